import { SILENT_AFTER_MS as ENGINE_SILENT_AFTER_MS } from '../../engine/feedSilence.ts'
import { expect, test } from 'vitest'
import { conformance } from '../testing/conformance.ts'
import * as sample from '../testing/sample.ts'
import { SILENT_AFTER_MS } from './health.ts'
import { overlayOf, presentState, toGone } from './presented.ts'
import { CompactState } from './price.ts'

const price = sample.priced(150, 7, sample.NOW_MS + 1000)
const well = { nowMs: sample.NOW_MS, feedGone: null }
const gone = { nowMs: sample.NOW_MS, feedGone: 'UNAVAILABLE' } as const

test('R-present-1: with its feed down a price is presented as UNPRICED FEED, with the price of the record', () => {
  for (const feedGone of ['GAP', 'UNAVAILABLE'] as const) {
    const shown = presentState(price, { ...well, feedGone })
    expect(shown).toEqual({
      state: 'UNPRICED',
      reason: 'FEED',
      presented: true,
      last_priced: {
        price_usd: price.price_usd,
        score: price.confidence.score,
        at_ms: price.evaluated_at_ms,
        stream_sequence: 7,
      },
      evaluated_at_ms: price.evaluated_at_ms,
      as_of: price.as_of,
      policy_version: price.policy_version,
    })
    expect(conformance(CompactState)(shown)).toEqual([])
  }
})

test('R-present-3: the feed comes before the expiry, and an expired price is presented too', () => {
  const late = sample.NOW_MS + 1000
  expect(overlayOf(price, { ...well, nowMs: late })).toBe('ROUTE_EXPIRED')
  expect(presentState(price, { ...well, nowMs: late })).toMatchObject({ presented: true, last_priced: {} })
  expect(overlayOf(price, { ...gone, nowMs: late })).toBe('FEED')
})

test('a state is the stored one while the feed carries prices', () => {
  for (const state of [price, sample.unpriced(7)]) expect(presentState(state, well)).toBe(state)
})

test('without a feed, a token unpriced for another reason is unpriced because of the feed', () => {
  const shown = presentState(sample.unpriced(7), gone)
  expect(shown).toMatchObject({ state: 'UNPRICED', reason: 'FEED', presented: true })
  expect(shown).not.toHaveProperty('last_priced')
  const before = { ...sample.unpriced(7), last_priced: null }
  expect(presentState(before, gone)).toHaveProperty('last_priced', null)
})

test.each(['FEED', 'OPERATOR', 'DORMANT'] as const)(
  'a record that is %s itself is returned unchanged',
  reason => {
    const state = { ...sample.unpriced(7), reason }
    expect(presentState(state, gone)).toBe(state)
  },
)

test('R-present-1: GAP and UNAVAILABLE carry no price, DEGRADED does', () => {
  const statuses = ['HEALTHY', 'DEGRADED', 'GAP', 'UNAVAILABLE'] as const
  expect(statuses.map(toGone)).toEqual([null, null, 'GAP', 'UNAVAILABLE'])
})

test('readers and the engine wait equally long before a feed counts as silent', () => {
  expect(SILENT_AFTER_MS).toBe(ENGINE_SILENT_AFTER_MS)
})
