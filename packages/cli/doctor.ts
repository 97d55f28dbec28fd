/** `assay doctor`: what each configured endpoint can and cannot do, as a table or as JSON; exit code 1 when one fails. */
import { styleText } from 'node:util'
import { type Check, diagnose, type Diagnosis } from '@assay/server/doctor'
import { configOf } from './configOf.ts'

type Options = { readonly config?: string; readonly json?: boolean; readonly timeout: number }

const COLOUR = { ok: 'green', warn: 'yellow', fail: 'red' } as const
const WIDTH = 12

export async function runDoctor(options: Options): Promise<void> {
  const diagnosis = await diagnose(configOf(options), { deadlineMs: options.timeout })
  console.log(options.json === true ? JSON.stringify(diagnosis) : text(diagnosis))
  if (!diagnosis.healthy) process.exitCode = 1
}

function text({ chains, warnings, healthy }: Diagnosis): string {
  const lines: string[] = []
  for (const chain of chains) {
    lines.push(`chain ${chain.chain_id}  ${chain.name}`)
    for (const { name, key, status, checks } of chain.endpoints) {
      lines.push(`  ${name}  ${painted(status, status)}  ${key}`)
      for (const check of checks) lines.push(...line(check))
    }
    for (const fault of chain.faults) lines.push(`  ${painted('fail', 'fail')}  ${fault}`)
    lines.push('')
  }
  for (const warning of warnings) lines.push(`${painted('warn', 'warn')}  ${warning}`)
  lines.push(healthy ? 'Every endpoint can be used.' : 'Not everything can be used; see above.')
  return lines.join('\n')
}

function line({ name, status, value, fix }: Check): string[] {
  const mark = painted(status, { ok: '✓', warn: '!', fail: '✗' }[status])
  return [
    `    ${mark} ${name.padEnd(WIDTH)}${value}`,
    ...(fix === null ? [] : [`      ${''.padEnd(WIDTH)}→ ${fix}`]),
  ]
}

/** Plain where the output is no terminal. */
const painted = (status: Check['status'], words: string): string =>
  styleText(COLOUR[status], words, { stream: process.stdout })
