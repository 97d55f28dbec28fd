/** The runs without a chain: one over SQLite, one over PostgreSQL, each in a process of its own. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execute, startPostgres } from '../../packages/server/store/testing/postgresServer.ts'
import { postmasterOf } from './ground.ts'
import { Part } from './part.ts'
import { Meter, type Role, type Used } from './usage.ts'
import type { Known, ReadBack, Size, Written } from './withoutChain.ts'

export type StoreName = 'SQLite' | 'PostgreSQL'
export type MarketSize = Omit<Size, 'store'>
export type MarketRun = {
  readonly store: StoreName
  readonly swapsPerBlock: number
  readonly known: Known
  readonly written: Written
  readonly writing: readonly Used[]
  /** Growth of the database while it was written to. */
  readonly grownBytes: number
  readonly readBack: ReadBack
  readonly reading: readonly Used[]
}

/** Records that a following node reads at a time: those of a block. */
const READ_PAGE = 250

export async function runMarket(store: StoreName, size: MarketSize, seconds: number): Promise<MarketRun> {
  if (store === 'PostgreSQL') {
    const server = await startPostgres()
    try {
      const database = { name: 'database', pids: [postmasterOf(server.data)] }
      const address = await server.createDatabase()
      const bytes = async () => {
        const [row] = await execute(address, 'SELECT pg_database_size(current_database()) AS bytes')
        return Number((row as { bytes: string }).bytes)
      }
      return await runOn({ store, address, roles: [database], bytes }, size, seconds)
    } finally {
      await server.dispose()
    }
  }
  const folder = mkdtempSync(join(tmpdir(), 'assay-load-'))
  try {
    const address = `sqlite:${join(folder, 'assay.db')}`
    const bytes = async () =>
      readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
    return await runOn({ store, address, roles: [], bytes }, size, seconds)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Database = {
  readonly store: StoreName
  readonly address: string
  readonly roles: readonly Role[]
  /** Its present size on disk. */
  readonly bytes: () => Promise<number>
}

async function runOn(
  { store, address, roles, bytes }: Database,
  size: MarketSize,
  seconds: number,
): Promise<MarketRun> {
  const part = new Part('withoutChain.ts', ['--expose-gc'])
  const meter = new Meter([{ name: 'writer', pids: [part.pid] }, ...roles])
  try {
    const known = await part.call<Known>('prepare', { ...size, store: address } satisfies Size)
    const before = await bytes()
    meter.begin()
    const written = await part.call<Written>('run', seconds)
    const writing = meter.read()
    const grownBytes = (await bytes()) - before
    meter.begin()
    const readBack = await part.call<ReadBack>('read', READ_PAGE)
    const reading = meter.read()
    await part.call('close')
    return {
      store,
      swapsPerBlock: size.swapsPerBlock,
      known,
      written,
      writing,
      grownBytes,
      readBack,
      reading,
    }
  } finally {
    meter.close()
    await part.close()
  }
}

export const logBytesPerSwap = ({ written, readBack }: MarketRun): number =>
  (readBack.bytes / readBack.records) * (written.records / written.swaps)

/**
 * Microseconds of the database for each record that a following node reads; 0 when the database is in the reader's
 * own process.
 */
export function readBackMicros({ readBack, reading }: MarketRun): number | undefined {
  const cores = reading.find(({ role }) => role === 'database')?.cores
  return cores === undefined ? undefined : (cores * readBack.seconds * 1e6) / readBack.records
}
