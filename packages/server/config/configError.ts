/** What an operator is told about a configuration that cannot be used. */
import { type Fault, faultText } from './faultLog.ts'

/** A file with more faults than this is probably not a configuration: the first ones show that. */
const FAULTS_SHOWN = 100

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly Fault[]

  constructor(file: string, faults: readonly Fault[]) {
    const lines = faults.slice(0, FAULTS_SHOWN).map(fault => `  ${faultText(fault)}`)
    if (faults.length > FAULTS_SHOWN) lines.push(`  and ${faults.length - FAULTS_SHOWN} more`)
    super(`${file} has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${lines.join('\n')}`)
    this.faults = faults
  }
}
