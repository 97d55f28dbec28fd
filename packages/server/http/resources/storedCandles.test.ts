/**
 * Stored candles against those computed from the prices, at any moment of a market whose branches die: while they are
 * built, behind, ahead, and after everything was built.
 */
import { describe, expect, it } from 'vitest'
import { seedOfRun } from '../../../world/seed.ts'
import { startOf } from '../../exports/candles.ts'
import { writeMarketLog } from '../../exports/testing/marketLog.ts'
import { buildCandles, candleOfPoints, pointsIn } from '../../store/candleBuild.ts'
import { CANDLE_LEVELS_MS, type CandleRow } from '../../store/candles.ts'
import type { RecordDraft, StepCommit, TokenRow } from '../../store/port.ts'
import { bothStores } from '../../store/testing/bothStores.ts'
import type { FullStore } from '../../store/testing/connect.ts'
import { commitOf, hash, tokenFacts } from '../../store/testing/drafts.ts'
import { generator } from '../../store/testing/generator.ts'
import { CHAIN, pricedAt, retractedTo, TOKEN } from '../../webhooks/testing/script.ts'
import { storedCandles } from './storedCandles.ts'

const FAR_MS = 90_000_000_000_000

async function computed(store: FullStore, token: TokenRow, intervalMs: number): Promise<CandleRow[]> {
  const buckets = Map.groupBy(await pointsIn(store, token, 0, FAR_MS), ({ atMs }) =>
    startOf(atMs, intervalMs),
  )
  return [...buckets].flatMap(([fromMs, points]) => candleOfPoints(points, fromMs) ?? [])
}

async function stored(
  store: FullStore,
  token: Pick<TokenRow, 'chainId' | 'tokenAddress'>,
  intervalMs: number,
  limit: number,
): Promise<CandleRow[]> {
  const { chainId, tokenAddress } = token
  const candles: CandleRow[] = []
  for (let fromMs = 0; ; ) {
    const page = await storedCandles(store, {
      chainId,
      tokenAddress,
      intervalMs,
      fromMs,
      toMs: FAR_MS,
      limit,
    })
    if (page === null) throw new Error('the candles are far behind')
    expect(page.candles.length).toBeLessThanOrEqual(limit)
    candles.push(...page.candles)
    if (page.nextMs === null) return candles
    fromMs = page.nextMs
  }
}

async function expectEqual(store: FullStore, chainId: number, limit: number): Promise<number> {
  let found = 0
  for (const token of await store.readTokens({ chainId, after: null, limit: 100 }))
    for (const intervalMs of CANDLE_LEVELS_MS) {
      const due = await computed(store, token, intervalMs)
      expect(await stored(store, token, intervalMs, limit), `${token.tokenAddress} ${intervalMs}`).toEqual(
        due,
      )
      found += due.length
    }
  return found
}

describe.each(Object.entries(bothStores()))('on %s', (_name, open) => {
  it('equal those of the prices after any commit, however far they are built', async () => {
    const database = await open()
    const store = await database.connect()
    const random = generator(seedOfRun())
    let commits = 0
    const observed: FullStore = {
      ...store,
      async commit(commit: StepCommit) {
        const outcome = await store.commit(commit)
        commits += 1
        const isReorganised = commit.orphanedBlocks.length > 0
        if (isReorganised ? random() % 3 === 0 : random() % 60 === 0)
          await expectEqual(store, commit.chainId, 1 + (random() % 5))
        // From minutes behind to everything, also what has not settled.
        if (random() % 4 === 0) await buildCandles(store, commit.atMs + (random() % 400_000))
        return outcome
      },
    }
    await writeMarketLog(observed, seedOfRun(), 250)
    expect(commits).toBeGreaterThan(200)
    const [last] = await store.readLog((await store.readBounds()).head - 1, 1, null)
    const chainId = last?.chainId as number
    while (await buildCandles(store, FAR_MS));
    expect(await store.readCandlesAt()).toBeGreaterThan(0)
    expect(await expectEqual(store, chainId, 7)).toBeGreaterThan(20)
    expect(await store.readTokenTail(chainId, '', await store.readCandlesAt(), 10)).toEqual([])
    await database.dispose()
  }, 600_000)

  it('a price withdrawn after its candles were built is gone from them, before and after they are rebuilt', async () => {
    const database = await open()
    const store = await database.connect()
    const HOUR_MS = 3_600_000
    let step = 0
    const say = (minute: number, block: number, draft: RecordDraft) => {
      const atMs = HOUR_MS + minute * 60_000
      const as_of = { block_number: block, block_hash: hash(`${block}-${step}`), block_time_ms: atMs }
      const dated = { evaluated_at_ms: atMs, as_of }
      const { payload } = draft
      const said =
        draft.type === 'PRICE_RETRACT'
          ? { ...payload, current: { ...(payload['current'] as object), ...dated } }
          : { ...payload, ...dated }
      step += 1
      return store.commit(
        commitOf(CHAIN, step, { records: [{ ...draft, payload: said }], tokens: [tokenFacts(TOKEN)], atMs }),
      )
    }
    const candles = async () =>
      (
        await Promise.all(
          CANDLE_LEVELS_MS.map(intervalMs =>
            stored(store, { chainId: CHAIN, tokenAddress: TOKEN }, intervalMs, 9),
          ),
        )
      ).map(rows =>
        rows.map(({ fromMs, open: o, close, records }) => [fromMs / 60_000 - 60, o, close, records]),
      )
    const before = [
      [
        [0, '1/1', '1/1', 1],
        [1, '7/1', '7/1', 1],
      ],
      [[0, '1/1', '7/1', 2]],
      [[0, '1/1', '7/1', 2]],
      [[-60, '1/1', '7/1', 2]],
    ]
    const after = [
      [
        [0, '1/1', '1/1', 1],
        [9, '3/1', '3/1', 1],
      ],
      [
        [0, '1/1', '1/1', 1],
        [5, '3/1', '3/1', 1],
      ],
      [[0, '1/1', '3/1', 2]],
      [[-60, '1/1', '3/1', 2]],
    ]
    await say(0, 50, pricedAt('a', 1n, 1n))
    await say(1, 51, pricedAt('b', 7n, 1n))
    expect(await candles()).toEqual(before)
    expect(await buildCandles(store, FAR_MS)).toBe(true)
    expect(await candles()).toEqual(before)
    await say(9, 52, retractedTo('c', 'b', 3n, 1n))
    expect(await candles()).toEqual(after)
    expect(await buildCandles(store, FAR_MS)).toBe(true)
    expect(await store.readCandlesAt()).toBe(3)
    expect(await candles()).toEqual(after)
    await database.dispose()
  }, 120_000)

  it('are built by one process at a time, and a failed change leaves them unchanged', async () => {
    const database = await open()
    const [store, other] = [await database.connect(), await database.connect()]
    await writeMarketLog(store, 3, 40)
    const outcome = await store.changeCandles(async () => {
      if (_name === 'postgres') expect(await other.changeCandles(async () => null)).toBe('busy')
      expect(await store.changeCandles(async () => null)).toBe('busy')
      return null
    })
    expect(outcome).toBe('idle')
    const fails = store.changeCandles(async () => {
      throw new Error('cut')
    })
    await expect(fails).rejects.toThrow('cut')
    expect(await store.readCandlesAt()).toBe(0)
    expect(await buildCandles(store, FAR_MS)).toBe(true)
    await database.dispose()
  }, 120_000)
})
