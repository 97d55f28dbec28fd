import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import type { BackfillCommit, BackfillPosition } from '../../store/backfill.ts'
import { StoreError } from '../../store/storeError.ts'
import { sqliteDatabase } from '../../store/testing/connect.ts'
import { address, commitOf, eventOf, health } from '../../store/testing/drafts.ts'
import { BATCH, BackfillWriter, TRANSACTION_MS } from './backfillWriter.ts'
import type { BackfillerData } from '../testing/backfiller.ts'

const before: BackfillPosition = { fromBlock: 0, toBlock: 99, nextBlock: 0, events: 0, startedAtMs: 1 }
const after = { ...before, nextBlock: 100, events: 60_000 }
const drafts = Array.from({ length: 60_000 }, (_, at) => eventOf(address(at), 1, at))

/** A writer on a disk that takes so long for a transaction of so many rows. */
function writerOn(costMs: (rows: number, at: number) => number) {
  let nowMs = 0
  const given: number[] = []
  const commits: (BackfillCommit & { readonly tookMs: number })[] = []
  const writer = new BackfillWriter({
    chainId: 1,
    clock: { monotonicMs: () => nowMs, nowMs: () => nowMs },
    giveWay: async () => void given.push(commits.length),
    store: {
      async writeBackfill(commit) {
        const tookMs = costMs(commit.events.length + commit.foundPools.length, commits.length)
        nowMs += tookMs
        commits.push({ ...commit, tookMs })
      },
    },
  })
  return { writer, commits, given }
}

test.each([0.001, 0.02, 0.1, 0.5])(
  'at %d ms a row the transactions find the size that fits',
  async costMs => {
    const { writer, commits, given } = writerOn(rows => 1 + rows * costMs)
    await writer.writeEvents(drafts, before, after)
    // Others get the lock between any two of them.
    expect(given).toEqual(commits.slice(1).map((_, at) => at + 1))
    expect(commits.flatMap(({ events }) => events)).toEqual(drafts)
    const settled = commits.slice(10)
    for (const { tookMs } of settled) expect(tookMs).toBeLessThanOrEqual(TRANSACTION_MS)
    // And no smaller than need be: a quarter more would be past half of the time, or past the largest.
    for (const { events } of settled.slice(20, -1))
      expect(events.length >= BATCH.most || 1 + events.length * 1.25 * costMs >= TRANSACTION_MS / 2).toBe(
        true,
      )
  },
)

test('a remainder of up to a quarter is included, a larger one has a transaction of its own', async () => {
  const sizes = async (rows: number) => {
    const { writer, commits } = writerOn(() => TRANSACTION_MS / 2)
    await writer.writeEvents(drafts.slice(0, rows), before, after)
    await writer.writePools(
      drafts.slice(0, rows).map(({ poolAddress }) => poolAddress),
      after,
    )
    return commits.map(({ events, foundPools }) => events.length + foundPools.length)
  }
  const most = BATCH.first * 1.25
  expect(await sizes(most)).toEqual([most, most])
  expect(await sizes(most + 1)).toEqual([
    BATCH.first,
    most + 1 - BATCH.first,
    BATCH.first,
    most + 1 - BATCH.first,
  ])
})

test('a disk that slows down is noticed at once, and the position moves with the last transaction only', async () => {
  const { writer, commits } = writerOn((rows, at) => (at < 20 ? 1 : rows * 0.5))
  await writer.writeEvents(drafts, before, after)
  const tooLong = commits.filter(({ tookMs }) => tookMs > TRANSACTION_MS)
  expect(tooLong.length).toBeGreaterThan(0)
  expect(tooLong.length).toBeLessThan(10)
  expect(commits.at(-1)?.position).toBe(after)
  for (const { position } of commits.slice(0, -1)) expect(position).toBe(before)
  const { writer: finder, commits: found } = writerOn(rows => rows)
  const pools = drafts.slice(0, 1_000).map(({ poolAddress }) => poolAddress)
  await finder.writePools(pools, before)
  expect(found.flatMap(({ foundPools }) => foundPools)).toEqual(pools)
  expect(found.at(-2)?.foundPools).toHaveLength(BATCH.least)
})

test('commits of another chain get through while a back-fill writes to the same disk', {
  timeout: 120_000,
}, async () => {
  const database = await sqliteDatabase()
  const store = await database.connect()
  const workerData: BackfillerData = { address: database.address, chainId: 2, events: 60_000 }
  const thread = new Worker(new URL('../testing/backfiller.ts', import.meta.url), {
    workerData,
    execArgv: [],
  })
  const ended = once(thread, 'exit') as Promise<[number]>
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  await once(thread, 'message')
  let commits = 0
  while (!isOver) {
    await store.commit(commitOf(1, ++commits, { records: [health(1, 'x')] }))
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  expect((await ended)[0]).toBe(0)
  expect(await store.readBackfill(2)).toMatchObject({ nextBlock: 100_001, events: 60_000 })
  // In one transaction a commit would wait for all of it: there would be one or two.
  expect(commits).toBeGreaterThan(20)
  await database.dispose()
})

test('a full store is waited for, with its error, and the pending rows are written once it accepts them', async () => {
  const waits: (string | null)[] = []
  const written: BackfillCommit[] = []
  let refusals = 2
  const writer = new BackfillWriter({
    chainId: 1,
    clock: { monotonicMs: () => 0, nowMs: () => 0 },
    onWaiting: reason => waits.push(reason),
    store: {
      async writeBackfill(commit) {
        if (refusals-- > 0) throw new StoreError('STORE_FULL', 'no space')
        written.push(commit)
      },
    },
  })
  await writer.writeEvents(drafts.slice(0, 50), before, after)
  expect(waits).toEqual(['no space', 'no space', null])
  expect(written.flatMap(({ events }) => events)).toEqual(drafts.slice(0, 50))
})

test('a wait for the store ends with its signal, and a permanent error is thrown at once', async () => {
  const stop = new AbortController()
  const full = new BackfillWriter({
    chainId: 1,
    clock: { monotonicMs: () => 0, nowMs: () => 0 },
    signal: stop.signal,
    onWaiting: () => stop.abort(),
    store: { writeBackfill: () => Promise.reject(new StoreError('STORE_FULL', 'no space')) },
  })
  await expect(full.writePools(['a'], before)).rejects.toMatchObject({ name: 'AbortError' })
  const broken = new BackfillWriter({
    chainId: 1,
    clock: { monotonicMs: () => 0, nowMs: () => 0 },
    store: { writeBackfill: () => Promise.reject(new StoreError('STORE_IO', 'broken')) },
  })
  await expect(broken.writePools(['a'], before)).rejects.toMatchObject({ code: 'STORE_IO' })
})
