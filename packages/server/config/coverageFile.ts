/** A file with the depth of other markets, with the keys of a static source; it may be rewritten at any time. */
import { readFile } from 'node:fs/promises'
import { type CoverageAsset, toAssets } from './config.ts'
import { FaultLog, faultText } from './faultLog.ts'
import { named } from './named.ts'
import { read } from './read.ts'
import { COVERAGE_FILE } from './sections/coverage.ts'

/** Some ten thousand assets: a larger file is a mistake. */
const MAX_BYTES = 4 * 1024 * 1024

/** Throws an Error that lists all faults of the file. */
export async function readCoverageFile(path: string): Promise<CoverageAsset[]> {
  const text = await readFile(path, 'utf8')
  if (text.length > MAX_BYTES) throw new Error(`${path} is longer than ${MAX_BYTES} bytes`)
  const log = new FaultLog()
  const file = read(COVERAGE_FILE, JSON.parse(text), log, '')
  if (log.faults.length > 0) throw new Error(`${path}: ${log.faults.map(faultText).join('; ')}`)
  return toAssets(named(file))
}
