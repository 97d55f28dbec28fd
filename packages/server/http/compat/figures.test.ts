/** The volume of a day, and prices of the past, over a real store: known whole, or absent with the reason. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FullStore, sqliteDatabase, type TestDatabase } from '../../store/testing/connect.ts'
import { address, type CommitParts, commitOf, tokenFacts } from '../../store/testing/drafts.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { SingleFlight } from '../plumbing/singleFlight.ts'
import { candlesBack } from './candlesBack.ts'
import { priceNear } from './defillama/near.ts'
import { DayVolumes } from './figures.ts'
import { priceAt } from './pastPrices.ts'
import type { Token } from './prices.ts'
import {
  CHAIN,
  DAY_MS,
  followed,
  marketWith,
  NOW_MS,
  POOL,
  said,
  swapAt,
  TOKEN,
  UNIT,
} from './testing/market.ts'

const HOUR_MS = DAY_MS / 24

let database: TestDatabase
let store: FullStore
let step = 0
beforeEach(async () => {
  database = await sqliteDatabase()
  store = await database.connect()
  step = 0
})
afterEach(() => database.dispose())

const contextWith = ({ minScore = 1, hours = 72 } = {}): HttpContext =>
  ({
    store,
    clock: { nowMs: () => NOW_MS, monotonicMs: () => NOW_MS },
    flights: new SingleFlight(),
    settings: { retention: { hours, records: 1000 } },
    config: { compat: { minScore } },
  }) as unknown as HttpContext

const volume = (limits?: Parameters<typeof contextWith>[0]) =>
  new DayVolumes(contextWith(limits)).ofToken(TOKEN)

async function commit(parts: CommitParts): Promise<void> {
  step += 1
  const outcome = await store.commit(commitOf(CHAIN, step, parts))
  expect(outcome.outcome).toBe('committed')
}

async function market(entity = followed(0)): Promise<void> {
  for (const parts of marketWith(entity)) await commit(parts)
}

describe('the volume of a day', () => {
  it('is what was traded within it at the price of each block, net, without orphaned swaps', async () => {
    await market()
    expect(await volume()).toEqual({ num: 16n, den: 1n })
  })

  it.each([
    ['pools followed for less than a day', followed(1.1 * DAY_MS), {}],
    [
      'a pool with an unknown start',
      { ...followed(0), text: '{"state":{"verifiedMs":1,"verifiedNumber":1}}' },
      {},
    ],
    ['a log with a shorter retention', followed(0), { hours: 12 }],
  ])('is unknown with %s', async (_, entity, limits) => {
    await market(entity)
    expect(await volume(limits)).toBe('NOT_FOLLOWED')
  })

  it('of a pool created within the day, and followed since, is complete', async () => {
    await market(followed(1.1 * DAY_MS, 1.1 * DAY_MS))
    expect(await volume()).toEqual({ num: 16n, den: 1n })
  })

  it('is unknown across a gap after which the pool has not been read again', async () => {
    await market()
    await commit({
      entities: [{ key: 'gap/40', text: JSON.stringify({ fromBlock: 30, toBlock: 40, atMs: 1.4 * DAY_MS }) }],
    })
    expect(await volume()).toBe('NOT_FOLLOWED')
  })

  it('is unknown when a swap had no price, or one below the least score', async () => {
    await market()
    expect(await volume({ minScore: 8 })).toBe('SWAP_WITHOUT_PRICE')
    await commit({
      records: [said(null, 61, 1.61 * DAY_MS)],
      events: [swapAt(62, 1.62 * DAY_MS, { amount0: UNIT })],
    })
    expect(await volume()).toBe('SWAP_WITHOUT_PRICE')
  })

  it('of a followed pool without a trade is 0, and of a token without a pool unknown', async () => {
    await commit({ pools: [POOL], tokens: [tokenFacts(TOKEN.tokenAddress)], entities: [followed(0)] })
    expect(await volume()).toEqual({ num: 0n, den: 1n })
    const other: Token = { chainId: CHAIN, tokenAddress: address('other') as Token['tokenAddress'] }
    await commit({ tokens: [tokenFacts(other.tokenAddress)] })
    expect(await new DayVolumes(contextWith()).ofToken(other)).toBe('NO_POOL')
  })
})

describe('a price of the past', () => {
  it('is the one that held, until the next record or its expiry', async () => {
    await commit({
      tokens: [tokenFacts(TOKEN.tokenAddress)],
      records: [said(2, 1, HOUR_MS, 3 * HOUR_MS), said(4, 9, 5 * HOUR_MS), said(null, 12, 7 * HOUR_MS)],
    })
    const at = async (hours: number) => {
      const price = await priceAt(contextWith(), TOKEN, hours * HOUR_MS)
      return typeof price === 'string' ? price : price.value
    }
    expect(await at(0.5)).toBe('NO_HISTORY')
    expect(await at(1)).toEqual({ num: 2n, den: 1n })
    expect(await at(3)).toBe('ROUTE_EXPIRED')
    expect(await at(6.9)).toEqual({ num: 4n, den: 1n })
    expect(await at(7)).toBe('NO_ROUTE')
    expect(await priceAt(contextWith({ minScore: 8 }), TOKEN, HOUR_MS)).toBe('BELOW_MIN_SCORE(7)')
  })

  it('lies within the search width: before the log began the first one counts, after a record without a price none', async () => {
    await commit({
      tokens: [tokenFacts(TOKEN.tokenAddress)],
      records: [said(2, 1, 10 * HOUR_MS), said(null, 12, 20 * HOUR_MS), said(5, 15, 21 * HOUR_MS)],
    })
    const near = async (hours: number, widthHours: number | null) => {
      const width = widthHours === null ? null : widthHours * HOUR_MS
      const price = await priceNear(contextWith(), TOKEN, hours * HOUR_MS, width)
      return typeof price === 'string' ? price : Number(price.value.num)
    }
    expect([await near(5, null), await near(3, null), await near(5, 4), await near(3, 8)]).toEqual([
      2,
      'NO_HISTORY',
      'NO_HISTORY',
      2,
    ])
    expect([await near(15, null), await near(15, 5), await near(15, 4)]).toEqual([2, 2, 'SEARCH_WIDTH'])
    expect([await near(20.5, null), await near(20.5, 24)]).toEqual(['NO_ROUTE', 'NO_ROUTE'])
    expect(await near(49, null)).toBe('FUTURE')
  })
})

it('candles go back over empty hours to the requested number, and omit prices below the least score', async () => {
  const hours = [1, 2, 2.5, 30, 40]
  await commit({
    tokens: [tokenFacts(TOKEN.tokenAddress)],
    records: hours.map((hour, at) => said(at + 1, at + 1, hour * HOUR_MS)),
  })
  const ask = { intervalMs: HOUR_MS, beforeMs: NOW_MS, limit: 3 }
  const candles = await candlesBack(contextWith(), TOKEN, ask)
  expect(candles.map(({ fromMs, open, close }) => [fromMs / HOUR_MS, open.num, close.num])).toEqual([
    [2, 2n, 3n],
    [30, 4n, 4n],
    [40, 5n, 5n],
  ])
  expect(await candlesBack(contextWith(), TOKEN, { ...ask, beforeMs: 40 * HOUR_MS, limit: 1 })).toMatchObject(
    [{ fromMs: 30 * HOUR_MS }],
  )
  expect(await candlesBack(contextWith({ minScore: 8 }), TOKEN, ask)).toEqual([])
})
