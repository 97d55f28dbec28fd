import { expect, test } from 'vitest'
import { asCommitted, present, presentPool, presentPoolQuote, presentText } from './stateAsShown.ts'

const NOW_MS = 1_800_000_000_000
const well = asCommitted(NOW_MS)
const gone = { nowMs: NOW_MS, feedGone: 'GAP' } as const

const state = {
  state: 'PRICED',
  price_usd: { numerator: '3', denominator: '2', display: '1.5' },
  confidence: { score: 7 },
  evaluated_at_ms: NOW_MS - 1000,
  as_of: { stream_sequence: 9, block_number: 1, block_hash: '0x', block_time_ms: 1 },
  expires_at_ms: NOW_MS + 1000,
  policy_version: 'p0',
}
const head = { chain_id: 1, token: '0x01', source: 'RETRIEVED', last_trade_ms: null }
const quote = { ...head, ...state, routes: [{}], routing_assets: [] }
const pool = {
  block_number: 1,
  reserves: { reserve0: '1', reserve1: '2' },
  score: 8,
  components: { feed: { score: 10, status: 'HEALTHY' }, depth: { score: 8 } },
  reason: null,
}

test('R-present-1: a full quote without its feed keeps its identity, and no route', () => {
  expect(present(quote, gone)).toEqual({
    ...head,
    candidates: [],
    state: 'UNPRICED',
    reason: 'FEED',
    presented: true,
    last_priced: { price_usd: state.price_usd, score: 7, at_ms: NOW_MS - 1000, stream_sequence: 9 },
    evaluated_at_ms: state.evaluated_at_ms,
    as_of: state.as_of,
    policy_version: 'p0',
  })
  expect(present(quote, well)).toBe(quote)
})

test('R-present-3, R-present-4: rows shown as committed are only withheld when they have expired by themselves', () => {
  expect(presentText(JSON.stringify(state), well)).toEqual(state)
  expect(presentText(JSON.stringify(state), asCommitted(NOW_MS + 1000))).toMatchObject({
    state: 'UNPRICED',
    reason: 'ROUTE_EXPIRED',
    presented: true,
  })
  expect(presentText(null, gone)).toBeNull()
})

test('R-present-5: a pool shows the feed at the time of reading; its reserves are as last read', () => {
  expect(presentPool(pool, gone)).toEqual({
    ...pool,
    score: 0,
    components: { feed: { score: 0, status: 'GAP' }, depth: { score: 8 } },
    reason: 'FEED',
    presented: true,
  })
  expect(presentPool(pool, well)).toBe(pool)
  const own = { ...pool, score: 0, reason: 'FEED' }
  expect(presentPool(own, gone)).toBe(own)
})

test("R-present-5: a pool's quote without its feed has no dollars", () => {
  const prices = { token0_usd: state.price_usd, token1_usd: state.price_usd }
  const computed = { state: pool, prices, ratios: [{}] }
  expect(presentPoolQuote(computed, well)).toBe(computed)
  expect(presentPoolQuote(computed, gone)).toMatchObject({
    state: { score: 0, reason: 'FEED', presented: true },
    prices: { token0_usd: null, token1_usd: null },
    ratios: [{}],
  })
})
