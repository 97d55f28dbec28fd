/** The log: no gap, no repetition, and the current state is its fold. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PoolFacts, RecordDraft } from '../../port.ts'
import type { Acknowledged, CommitterOptions } from '../committer.ts'
import type { FullStore, TestDatabase } from '../connect.ts'
import {
  address,
  commitOf,
  health,
  poolFacts,
  poolRetract,
  poolUpsert,
  swap,
  tokenFacts,
  tokenRetract,
  tokenUpsert,
} from '../drafts.ts'
import { foldLog, keyOf } from '../logFold.ts'
import { scriptedCommit, scriptedCount } from '../script.ts'
import { wholeLog, wholeSnapshot } from '../wholeLog.ts'

const HOUR_MS = 3_600_000
/** Forty databases are made and dropped. */
const FOLDS_MS = 600_000

export function streamContract(database: () => TestDatabase, open: () => Promise<TestDatabase>): void {
  test('two chains commit from two threads at once: one contiguous sequence, each commit in one piece', async () => {
    const { address } = database()
    const store = await database().connect()
    const steps = 60
    const threads = [1, 2].map(chainId => commitInThread({ address, chainId, steps }))
    const acknowledged = await Promise.all(threads)
    const log = await wholeLog(store)
    expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, at) => at + 1))
    expect((await store.readBounds()).head).toBe(log.length)
    for (const [at, commits] of acknowledged.entries()) {
      expect(commits.length).toBe(steps)
      for (const { step, first, last } of commits) {
        expect(last - first + 1).toBe(scriptedCount(at + 1, step))
        for (const record of log.slice(first - 1, last)) expect(record.chainId).toBe(at + 1)
      }
      const ofChain = await wholeLog(store, at + 1)
      expect(ofChain).toEqual(log.filter(({ chainId }) => chainId === at + 1))
    }
    foldLog(log)
  })

  test('a reader resumes at every sequence and gets all later records', async () => {
    const store = await database().connect()
    for (let step = 1; step <= 5; step++)
      for (const chainId of [1, 2]) await store.commit(scriptedCommit(chainId, step))
    const log = await wholeLog(store)
    expect(log.length).toBeGreaterThan(20)
    for (let after = 0; after <= log.length; after++) {
      expect(await store.readLog(after, 10_000, null)).toEqual(log.slice(after))
      expect(await store.readLog(after, 3, null)).toEqual(log.slice(after, after + 3))
      const ofChain = log.slice(after).filter(({ chainId }) => chainId === 2)
      expect(await store.readLog(after, 3, 2)).toEqual(ofChain.slice(0, 3))
    }
    expect(await store.readLog(log.length + 5, 3, null)).toEqual([])
    await expect(store.readLog(0, 0, null)).rejects.toMatchObject({ code: 'STORE_MISUSE' })
    await expect(store.readLog(0, -1, null)).rejects.toMatchObject({ code: 'STORE_MISUSE' })
  })

  test('a commit of many rows can be read from its middle', async () => {
    const store = await database().connect()
    const records = Array.from({ length: 350 }, (_, at) => health(1, `${at}`))
    await store.commit(commitOf(1, 1, { records }))
    for (const after of [0, 99, 100, 101, 199, 349]) {
      const page = await store.readLog(after, 120, 1)
      const statuses = page.map(({ envelope }) => JSON.parse(envelope).payload.status)
      expect(statuses).toEqual(records.slice(after, after + 120).map(({ payload }) => payload['status']))
    }
  })

  test('the current state is the fold of the log, whatever was committed', {
    timeout: FOLDS_MS,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async steps => {
        const fresh = await open()
        try {
          await checkFold(await fresh.connect(), steps)
        } finally {
          await fresh.dispose()
        }
      }),
      { numRuns: 40 },
    )
  })

  test('retention keeps recent records and the newest ones, and the bounds follow', async () => {
    const store = await database().connect()
    for (let at = 1; at <= 10; at++) {
      const records = Array.from({ length: 10 }, () => health(1, `${at}`))
      await store.commit(commitOf(1, at, { records, atMs: at * HOUR_MS, events: [], input: `${at}` }))
    }
    const limits = { nowMs: 10 * HOUR_MS, hours: 100, records: 0, batch: 15 }
    expect(await store.prune(limits)).toEqual({ records: 0, events: 0, inputs: 0 })
    expect(await store.prune({ ...limits, hours: 0, records: 1_000 })).toMatchObject({ records: 0 })
    // Eight commits are two hours old or older; the newest 55 records reach into the fifth.
    expect(await store.prune({ ...limits, hours: 2, records: 55 })).toMatchObject({ records: 40 })
    expect(await store.readBounds()).toEqual({ epoch: 0, oldest: 41, head: 100 })
    expect(await store.prune({ ...limits, hours: 2, records: 5 })).toMatchObject({ records: 40 })
    expect(await store.readBounds()).toEqual({ epoch: 0, oldest: 81, head: 100 })
    expect((await wholeLog(store)).map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 20 }, (_, at) => 81 + at),
    )
    let turns = 0
    const signal = { throwIfAborted: () => turns++ } as unknown as AbortSignal
    expect(await store.prune({ ...limits, hours: 0, signal })).toEqual({ records: 20, events: 0, inputs: 5 })
    // Two rows of ten do not fit a batch of fifteen; each of the three kinds, and history, is asked once more when done.
    expect(turns).toBe(2 + 0 + 1 + 4)
    expect(await store.readBounds()).toEqual({ epoch: 0, oldest: 101, head: 100 })
    expect(JSON.parse((await store.readHealth(1)) as string).status).toBe('10')
    const next = await store.commit(commitOf(1, 11, { records: [health(1, 'next')] }))
    expect(next).toEqual({ outcome: 'committed', first: 101, last: 101 })
    await expect(store.prune({ ...limits, batch: 0 })).rejects.toMatchObject({ code: 'STORE_MISUSE' })
    await expect(store.prune({ ...limits, signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })

  test('retention deletes nothing that a replay has yet to read', async () => {
    const store = await database().connect()
    for (let at = 1; at <= 5; at++)
      await store.commit(commitOf(1, at, { records: Array.from({ length: 10 }, () => health(1, `${at}`)) }))
    const limits = { nowMs: Number.MAX_SAFE_INTEGER, hours: 0, records: 0, batch: 1 }
    let replayed = 5
    expect(await store.prune({ ...limits, replayed: () => replayed })).toMatchObject({ records: 0 })
    replayed = 10
    expect(await store.prune({ ...limits, replayed: () => replayed })).toMatchObject({ records: 10 })
    expect((await store.readLog(10, 100, null)).map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 40 }, (_, at) => 11 + at),
    )
    expect(await store.prune({ ...limits, replayed: () => null })).toMatchObject({ records: 40 })
  })
}

async function commitInThread(options: CommitterOptions): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = []
  const thread = new Worker(new URL('../committer.ts', import.meta.url), {
    workerData: options,
    execArgv: [],
  })
  thread.on('message', (message: Acknowledged) => acknowledged.push(message))
  const [code] = await once(thread, 'exit')
  expect(code).toBe(0)
  return acknowledged
}

/** One step of a random life: on which chain, and what is said of which of a few entities. */
type Draw = {
  readonly kind: 'token' | 'pool' | 'swap' | 'health'
  readonly at: number
  readonly retract: boolean
}

const entities = 4
const draw: fc.Arbitrary<Draw> = fc.record({
  kind: fc.constantFrom('token', 'pool', 'swap', 'health'),
  at: fc.nat(entities - 1),
  retract: fc.boolean(),
})
const step = fc.record({
  chainId: fc.constantFrom(1, 2),
  draws: fc.array(draw, { maxLength: 8 }),
  removed: fc.array(fc.nat(entities - 1), { maxLength: 1 }),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const tokens = Array.from({ length: entities }, (_, at) => address(0x10 + at))
const pools = tokens.map((token, at) => poolFacts(0x20 + at, token, tokens[(at + 1) % entities] as string))

/** Commits the steps and compares what the store shows with the fold of what it logged. */
async function checkFold(store: FullStore, steps: readonly Step[]): Promise<void> {
  const last = new Map<string, string>()
  const gone = new Set<string>()
  const done = new Map<number, number>()
  for (const { chainId, draws, removed } of steps) {
    const number = (done.get(chainId) ?? 0) + 1
    done.set(chainId, number)
    const records = draws.map((each, at) => recordOf(last, chainId, `${chainId}-${number}-${at}`, each))
    const removedPools = removed.map(at => (pools[at] as PoolFacts).poolAddress)
    const present = number === 1 ? pools.filter(({ poolAddress }) => !removedPools.includes(poolAddress)) : []
    for (const pool of removedPools) {
      gone.add(keyOf(chainId, pool))
      last.delete(keyOf(chainId, pool))
    }
    const facts = number === 1 ? tokens.map(token => tokenFacts(token)) : []
    const commit = commitOf(chainId, number, { records, removedPools, pools: present, tokens: facts })
    expect((await store.commit(commit)).outcome).toBe('committed')
  }

  const folded = foldLog(await wholeLog(store))
  for (const chainId of done.keys()) {
    for (const row of await store.readTokens({ chainId, after: null, limit: 100 })) {
      const expected = folded.tokens.get(keyOf(chainId, row.tokenAddress))
      expect(row.sequence).toBe(expected?.sequence ?? null)
      expect(row.price === null ? undefined : JSON.parse(row.price)).toEqual(expected?.state)
      const quote = await store.readQuote(chainId, row.tokenAddress)
      expect(quote?.sequence).toBe(expected?.sequence)
      if (quote !== null) expect(JSON.parse(quote.quote)).toMatchObject(expected?.state as object)
    }
    const text = await store.readHealth(chainId)
    expect(text === null ? undefined : JSON.parse(text)).toEqual(folded.health.get(chainId))
  }
  const shown = await wholeSnapshot(store, 3)
  const known = [1, 2]
    .filter(chainId => done.has(chainId))
    .flatMap(chainId => pools.map(pool => keyOf(chainId, pool.poolAddress)))
  expect(shown.map(row => keyOf(row.chainId, row.poolAddress))).toEqual(known.filter(key => !gone.has(key)))
  for (const row of shown) {
    const expected = folded.pools.get(keyOf(row.chainId, row.poolAddress))
    expect(row.sequence).toBe(expected?.sequence ?? null)
    expect(row.state === null ? null : JSON.parse(row.state)).toEqual(expected?.state ?? null)
    const price = folded.tokens.get(keyOf(row.chainId, row.token0))?.state
    expect(row.prices.token0 === null ? undefined : JSON.parse(row.prices.token0)).toEqual(price)
  }
}

/** Remembers each entity's last record: that is what a retraction withdraws. */
function recordOf(last: Map<string, string>, chainId: number, recordId: string, draw: Draw): RecordDraft {
  const pool = pools[draw.at] as PoolFacts
  const head = { chainId, recordId }
  if (draw.kind === 'swap') return swap(chainId, pool, draw.at)
  if (draw.kind === 'health') return health(chainId, recordId)
  const subject = draw.kind === 'token' ? (tokens[draw.at] as string) : pool.poolAddress
  const before = last.get(keyOf(chainId, subject))
  last.set(keyOf(chainId, subject), recordId)
  if (draw.kind === 'token')
    return before !== undefined && draw.retract
      ? tokenRetract(head, subject, before)
      : tokenUpsert(head, subject, recordId)
  return before !== undefined && draw.retract
    ? poolRetract(head, pool, before, draw.at % 2 === 0 ? null : draw.at)
    : poolUpsert(head, pool, draw.at)
}
