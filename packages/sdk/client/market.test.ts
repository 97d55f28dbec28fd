import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../engine/testing/cases.ts'
import * as sample from '../testing/sample.ts'
import type { PoolPage } from '../wire/pool.ts'
import type { CompactState } from '../wire/price.ts'
import type { Envelope } from '../wire/stream.ts'
import { type FollowedPool, Market } from './market.ts'

const POOLS = [1, 2, 3]
const TOKENS = [1, 2, 3, 4]
/** Pool n trades token n against token n + 1. */
function poolIn(market: Market, n: number) {
  const side = (of: number) => sample.poolToken(of, market.tokens.get(sample.tokenId(of))?.price ?? null)
  const { state, sequence } = market.pools.get(sample.poolId(n)) as FollowedPool
  return sample.pool(
    n,
    [side(n), side(n + 1)],
    state === null ? null : { ...state, stream_sequence: sequence },
  )
}

/** A page of pools as a service would read them at one moment. */
function pageAt(log: readonly Envelope[], sequence: number, pools: readonly number[]): PoolPage {
  const market = fold(log.filter(record => record.stream_sequence <= sequence))
  const listed = pools.filter(n => market.pools.has(sample.poolId(n)))
  return sample.page(
    sequence,
    listed.map(n => poolIn(market, n)),
  )
}

function fold(log: readonly Envelope[]): Market {
  const market = new Market()
  for (const record of log) market.apply(record)
  return market
}

/** States by id; their content distinguishes the records they come from. */
const contents = (market: Market) => ({
  tokens: new Map([...market.tokens.values()].map(({ token_id, price }) => [token_id, price])),
  pools: new Map([...market.pools.values()].map(({ pool_id, state }) => [pool_id, state?.reserves])),
})

const record = fc.oneof(
  fc.record({
    kind: fc.constant('token'),
    n: fc.constantFrom(...TOKENS),
    value: fc.integer({ min: 1, max: 999 }),
  }),
  fc.record({
    kind: fc.constant('pool'),
    n: fc.constantFrom(...POOLS),
    value: fc.integer({ min: 1, max: 999 }),
  }),
  fc.record({
    kind: fc.constantFrom('retract', 'orphan', 'health'),
    n: fc.constantFrom(...POOLS),
    value: fc.constant(0),
  }),
)
const logs = fc.array(record, { minLength: 1, maxLength: 40 }).map(records =>
  // Sequences have gaps: other chains' records are in between.
  records.map(({ kind, n, value }, at): Envelope => {
    const sequence = 3 * at + 1
    if (kind === 'token') return sample.tokenUpsert(sequence, n, value)
    if (kind === 'pool') return sample.poolUpsert(sequence, n, value)
    if (kind === 'retract') return sample.tokenRetract(sequence, n)
    return kind === 'orphan' ? sample.poolOrphaned(sequence, n) : sample.feedHealth(sequence)
  }),
)

test('R-stream-5: a snapshot of pages from different moments, and the records after the oldest, give the state of the log', () => {
  fc.assert(
    fc.property(
      logs,
      fc.array(fc.nat(130), { minLength: 3, maxLength: 3 }),
      fc.nat(20),
      (log, moments, overlap) => {
        const pages = POOLS.map((n, at) => pageAt(log, moments[at] as number, [n]))
        const market = new Market()
        market.load(pages)
        expect(market.sequence).toBe(Math.min(...moments))
        // A replay may begin too early and repeat itself.
        const from = Math.min(...moments) - overlap
        const replay = log.filter(({ stream_sequence }) => stream_sequence > from)
        for (const each of [...replay, ...replay.slice(0, 5), ...replay]) market.apply(each)
        const whole = fold(log)
        const ours = contents(market)
        // Tokens that no listed pool holds are known from their own records only.
        for (const [id, price] of ours.tokens) expect(price).toEqual(whole.tokens.get(id)?.price ?? null)
        expect(ours.pools).toEqual(contents(whole).pools)
      },
    ),
    { numRuns: cases(300) },
  )
})

test('a record at or below the last one is overlap', () => {
  const market = fold([sample.tokenUpsert(10, 1, 100)])
  expect(market.apply(sample.tokenUpsert(10, 1, 200))).toBe(false)
  expect(market.apply(sample.tokenUpsert(9, 2, 200))).toBe(false)
  expect(market.tokens.size).toBe(1)
  expect(cents(market, 1)).toBe('100')
})

test('a record is applied to an entity only above its own sequence', () => {
  const market = new Market()
  const newer = sample.poolToken(1, sample.priced(500, 40))
  market.load([
    sample.page(20, [sample.pool(1, [sample.poolToken(2, null), sample.poolToken(3, null)], null)]),
    sample.page(50, [sample.pool(2, [newer, sample.poolToken(3, null)], sample.poolState(7))]),
  ])
  expect(market.sequence).toBe(20)
  expect(market.apply(sample.tokenUpsert(40, 1, 300))).toBe(false)
  expect(market.apply(sample.poolUpsert(45, 2, 1))).toBe(false)
  expect(market.apply(sample.tokenUpsert(46, 2, 300))).toBe(true)
  expect(market.apply(sample.tokenUpsert(51, 1, 600))).toBe(true)
  expect([cents(market, 1), cents(market, 2)]).toEqual(['600', '300'])
  expect(market.pools.get(sample.poolId(2))?.state?.reserves?.reserve0).toBe('7')
})

test('of two pages that show the same token the newer state wins, in either order', () => {
  const older = sample.page(60, [
    sample.pool(1, [sample.poolToken(1, sample.priced(1, 10)), sample.poolToken(2, null)], null),
  ])
  const newer = sample.page(50, [
    sample.pool(2, [sample.poolToken(1, sample.priced(2, 30)), sample.poolToken(2, null)], null),
  ])
  for (const pages of [
    [older, newer],
    [newer, older],
  ]) {
    const market = new Market()
    market.load(pages)
    expect(cents(market, 1)).toBe('2')
  }
})

test('a pool removed with its orphaned block is gone, and may return', () => {
  const market = fold([sample.poolUpsert(1, 1, 5), sample.poolOrphaned(2, 1)])
  expect(market.pools.size).toBe(0)
  market.apply(sample.poolUpsert(3, 1, 6))
  expect(market.pools.get(sample.poolId(1))?.state?.reserves?.reserve0).toBe('6')
})

test('a record’s payload is the state and not its head', () => {
  const market = fold([sample.tokenUpsert(1, 1, 5), sample.poolUpsert(2, 1, 5)])
  expect(market.tokens.get(sample.tokenId(1))?.price).toEqual(sample.priced(5, 1))
  expect(market.pools.get(sample.poolId(1))?.state).toEqual(sample.poolState(5))
})

test('what the snapshot shows of a token and a pool besides their state is kept', () => {
  const market = new Market()
  const side = { ...sample.poolToken(1, null), symbol: 'ONE' }
  market.load([sample.page(1, [sample.pool(1, [side, sample.poolToken(2, null)], null)])])
  market.apply(sample.tokenUpsert(2, 1, 5))
  market.apply(sample.tokenRetract(3, 1))
  market.apply(sample.poolUpsert(4, 1, 5))
  expect(market.tokens.get(sample.tokenId(1))).toMatchObject({
    token: { symbol: 'ONE' },
    price: { state: 'UNPRICED' },
  })
  expect(market.pools.get(sample.poolId(1))?.pool?.deployment_id).toBe('v2')
})

test('an unknown future type moves the position and nothing else', () => {
  const market = fold([sample.tokenUpsert(1, 1, 5)])
  expect(market.apply({ ...sample.feedHealth(8), type: 'NEW_THING' } as unknown as Envelope)).toBe(false)
  expect(market.sequence).toBe(8)
})

function cents(market: Market, n: number): string | undefined {
  const price = market.tokens.get(sample.tokenId(n))?.price as CompactState
  return price.state === 'PRICED' ? price.price_usd.numerator : undefined
}
