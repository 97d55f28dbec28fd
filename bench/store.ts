/**
 * The durable log: a block's commit against the limits of the disk and against PostgreSQL, and reads against the bare
 * statements they consist of. Both sides of a row use the same disk, file system and data.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { claimStore, openStore } from '../packages/server/store/openStore.ts'
import { readEnvelope, unsealed } from '../packages/server/store/envelope.ts'
import type { LogRecord, StepCommit } from '../packages/server/store/port.ts'
import type { FullStore } from '../packages/server/store/testing/connect.ts'
import { address, commitOf, poolFacts, poolUpsert, swap } from '../packages/server/store/testing/drafts.ts'
import { type PostgresServer, startPostgres } from '../packages/server/store/testing/postgresServer.ts'
import type { Benchmark } from './benchmark.ts'
import { quantile } from './harness.ts'
import { duration } from './row.ts'

/** A busy block: 200 records, 50 of them about a pool whose state they replace. */
const [SWAPS, UPSERTS] = [150, 50]
/** Commits per call, so that a call is more than one sync. */
const COMMITS = 10

const REPLAYED = 100_000
const PAGE = 1_000
const POOLS = 100_000

const pools = Array.from({ length: UPSERTS }, (_, at) =>
  poolFacts(0x1000 + at, address(at + 1), address('usd')),
)

/** Built once: a worker's time for building records, and their text, is not the store's. */
const records = [
  ...Array.from({ length: SWAPS }, (_, at) => swap(1, pools[at % UPSERTS] as (typeof pools)[0], at)),
  ...pools.map((pool, at) => poolUpsert({ chainId: 1, recordId: `1-1-${at}` }, pool, at)),
].map(unsealed)

const blockOf = (step: number): StepCommit => ({
  ...commitOf(1, step, { pools: step === 1 ? pools : [] }),
  records,
})

/** A store whose steps count up. */
class Bench {
  /** Created on first use: a row that is not measured leaves nothing behind. */
  #folder: string | null = null
  #store: FullStore | null = null
  #release: (() => Promise<void>) | null = null
  #step = 0
  /** The duration of each commit. */
  readonly commitsNs: number[] = []

  get path(): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), 'assay-bench-'))
    return join(this.#folder, 'assay.db')
  }

  get store(): FullStore {
    if (this.#store === null) throw new Error('the store is not open')
    return this.#store
  }

  async open(store = `sqlite:${this.path}`): Promise<void> {
    this.#release = await claimStore(store)
    this.#store = await openStore(store)
  }

  async commitBlocks(count = COMMITS): Promise<void> {
    for (let at = 0; at < count; at++) {
      this.#step++
      const startedMs = performance.now()
      const { outcome } = await this.store.commit(blockOf(this.#step))
      this.commitsNs.push((performance.now() - startedMs) * 1e6)
      if (outcome !== 'committed') throw new Error(`step ${this.#step}: ${outcome}`)
    }
  }

  async close(): Promise<void> {
    await this.#store?.close()
    await this.#release?.()
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true })
  }
}

export const benchmarks: readonly Benchmark[] = [
  againstDisk(),
  againstPostgres(),
  replay(),
  snapshot(),
  memory(),
]

function againstDisk(): Benchmark {
  const ours = new Bench()
  let raw = ''
  let file = -1
  let bytes = Buffer.alloc(0)
  return {
    name: 'store: durable commit of a block, 200 records and 50 states, against append + fdatasync',
    unit: 'block',
    goal: { ratio: 0.3, sense: 'at least' },
    ours: { name: 'SQLite', operations: COMMITS, run: () => ours.commitBlocks() },
    peer: {
      name: 'append + fdatasync',
      operations: COMMITS,
      run() {
        for (let at = 0; at < COMMITS; at++) {
          writeSync(file, bytes)
          fdatasyncSync(file)
        }
      },
    },
    async prepare() {
      await ours.open()
      await ours.commitBlocks(1)
      // The same bytes that our commit makes durable as records.
      const log = await ours.store.readLog(0, PAGE, null)
      bytes = Buffer.from(log.map(({ envelope }) => envelope).join('\n'))
      raw = mkdtempSync(join(tmpdir(), 'assay-raw-'))
      file = openSync(join(raw, 'log'), 'a')
    },
    notes() {
      const durations = [0.5, 0.99, 1].map(share => duration(quantile(ours.commitsNs, share)))
      return [
        `a commit p50 ${durations[0]}, p99 ${durations[1]}, the slowest of ${ours.commitsNs.length} ${durations[2]}`,
      ]
    },
    async close() {
      await ours.close()
      closeSync(file)
      rmSync(raw, { recursive: true })
    },
  }
}

function againstPostgres(): Benchmark {
  const [ours, theirs] = [new Bench(), new Bench()]
  let server: PostgresServer | null = null
  const isThere = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch)
  return {
    name: 'store: durable commit of a block, against PostgreSQL over a unix socket',
    unit: 'block',
    goal: { ratio: 3, sense: 'at least' },
    ours: { name: 'SQLite', operations: COMMITS, run: () => ours.commitBlocks() },
    peer: isThere
      ? { name: 'PostgreSQL, unnest', operations: COMMITS, run: () => theirs.commitBlocks() }
      : { absent: 'PostgreSQL is brought for Linux only' },
    async prepare() {
      await ours.open()
      if (!isThere) return
      server = await startPostgres()
      await theirs.open(await server.createDatabase())
    },
    async close() {
      await ours.close()
      await theirs.close()
      await server?.dispose()
    },
  }
}

/**
 * The benefit of packing: the same records in a row each, in a file of the same kind, read in the same pages and into
 * the same form. A row of `stream.ts` shows that a replay reaches a socket at a fair part of this speed.
 */
function replay(): Benchmark {
  const [packed, single] = [new Bench(), new Bench()]
  let rows: DatabaseSync
  let statement: StatementSync
  const readPacked = async () => {
    let seen = 0
    for (let after = 0; ; ) {
      const page = await packed.store.readLog(after, PAGE, null)
      if (page.length === 0) return seen
      seen += page.length
      after = page.at(-1)?.sequence ?? after
    }
  }
  const readSingle = () => {
    let seen = 0
    for (let after = 0; ; ) {
      const page: LogRecord[] = []
      for (const [sequence, chainId, timeMs, envelope] of statement.iterate(
        after,
        PAGE,
      ) as unknown as Iterable<[number, number, number, string]>)
        page.push({ sequence, chainId, timeMs, envelope, bytes: envelope.length, ...readEnvelope(envelope) })
      if (page.length === 0) return seen
      seen += page.length
      after = page.at(-1)?.sequence ?? after
    }
  }
  return {
    name: 'store: replay of 100,000 packed records, against the same in a row each',
    unit: 'record',
    goal: { ratio: 1, sense: 'at least' },
    ours: { name: 'readLog', operations: REPLAYED, run: readPacked },
    peer: { name: 'a row each', operations: REPLAYED, run: readSingle },
    async prepare() {
      await packed.open()
      await packed.commitBlocks(REPLAYED / (SWAPS + UPSERTS))
      rows = new DatabaseSync(single.path)
      rows.exec(`
        PRAGMA journal_mode = WAL;
        CREATE TABLE log (
          sequence INTEGER PRIMARY KEY, chain_id INTEGER NOT NULL, at_ms INTEGER NOT NULL, envelope TEXT NOT NULL
        ) STRICT;
        CREATE INDEX log_chain ON log (chain_id, sequence);
        BEGIN`)
      const insert = rows.prepare('INSERT INTO log VALUES (?, ?, ?, ?)')
      for (let after = 0; after < REPLAYED; after += PAGE)
        for (const { sequence, chainId, timeMs, envelope } of await packed.store.readLog(after, PAGE, null))
          insert.run(sequence, chainId, timeMs, envelope)
      rows.exec('COMMIT')
      statement = rows.prepare('SELECT * FROM log WHERE sequence > ? ORDER BY sequence LIMIT ?')
      statement.setReturnArrays(true)
    },
    async check() {
      const [left, right] = [await readPacked(), readSingle()]
      if (left !== REPLAYED || right !== REPLAYED) throw new Error(`read ${left} and ${right} records`)
    },
    async close() {
      rows?.close()
      await packed.close()
      await single.close()
    },
  }
}

function snapshot(): Benchmark {
  const ours = new Bench()
  let raw: StatementSync
  const readOurs = async () => {
    let seen = 0
    for (let after: { chainId: number; poolAddress: string } | null = null; ; ) {
      const { pools } = await ours.store.readPools({ chainId: null, tokenAddress: null, after, limit: PAGE })
      seen += pools.length
      if (pools.length < PAGE) return seen
      after = pools.at(-1) as { chainId: number; poolAddress: string }
    }
  }
  return {
    name: 'store: snapshot of 100,000 pools in pages of 1,000, against one statement',
    unit: 'pool',
    goal: { ratio: 0.5, sense: 'at least' },
    ours: { name: 'readPools', operations: POOLS, run: readOurs },
    peer: { name: 'one statement', operations: POOLS, run: () => raw.all().length },
    async prepare() {
      await ours.open()
      for (let step = 1; step <= POOLS / PAGE; step++) {
        const facts = Array.from({ length: PAGE }, (_, at) =>
          poolFacts(step * PAGE + at, address(at), address('usd')),
        )
        const records = facts.map((pool, at) =>
          poolUpsert({ chainId: 1, recordId: `1-${step}-${at}` }, pool, at),
        )
        await ours.store.commit(commitOf(1, step, { pools: facts, records }))
      }
      raw = new DatabaseSync(ours.path, { readOnly: true }).prepare(`
        SELECT * FROM pool LEFT JOIN pool_state USING (chain_id, pool_address)
        LEFT JOIN token_price AS price0 ON price0.chain_id = pool.chain_id AND price0.token_address = pool.token0
        LEFT JOIN token_price AS price1 ON price1.chain_id = pool.chain_id AND price1.token_address = pool.token1
        ORDER BY pool.chain_id, pool.pool_address`)
    },
    async check() {
      const seen = await readOurs()
      if (seen !== POOLS) throw new Error(`read ${seen} pools`)
    },
    close: () => ours.close(),
  }
}

/** The memory that a store keeps, after a thousand blocks written and read again. */
function memory(): Benchmark {
  const ours = new Bench()
  let held = 0
  return {
    name: 'store: memory held after 1,000 blocks written and replayed',
    unit: 'byte',
    goal: { ratio: 1, sense: 'at most' },
    limit: { value: 128 * 1024 * 1024, unit: 'bytes' },
    ours: {
      name: 'resident set',
      operations: 1,
      calls: 1,
      async run() {
        globalThis.gc?.()
        const before = process.memoryUsage.rss()
        await ours.commitBlocks(1_000)
        for (let after = 0; ; ) {
          const page = await ours.store.readLog(after, PAGE, null)
          if (page.length === 0) break
          after = page.at(-1)?.sequence ?? after
        }
        globalThis.gc?.()
        held = Math.max(0, process.memoryUsage.rss() - before)
      },
      figure: () => held,
    },
    rounds: 1,
    prepare: () => ours.open(),
    close: () => ours.close(),
  }
}
