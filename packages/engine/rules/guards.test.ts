import { expect, it } from 'vitest'
import { ms, score } from '../units.ts'
import { type GuardedHop, guardOf } from './guards.ts'
import { FOREVER } from './timed.ts'

const T = ms(1_700_000_000_000)
const EXPIRES = ms(T + 1_000_000)
const LEAST = 50_000_000n

const good: GuardedHop = {
  freshness: { score: score(10), ageMs: ms(0), ttlMs: ms(1_000_000) },
  expiresAtMs: EXPIRES,
  anchorRule: null,
  capacity: { value: LEAST, untilMs: FOREVER },
  leastMicrousd: LEAST,
  feed: { score: score(10) },
}
const guard = (changes: Partial<GuardedHop>) => guardOf({ ...good, ...changes })
const expired = { freshness: { ...good.freshness, score: score(0) } }
const shallow = { capacity: { value: LEAST - 1n, untilMs: FOREVER } }
const unfed = { feed: { score: score(0) } }

it('R-guard-1: the first guard that fails is reported: expiry, the anchor, depth, the feed', () => {
  const anchored = { anchorRule: 'STABLE_SUSPENDED' } as const
  expect(guard({ ...expired, ...anchored, ...shallow, ...unfed }).value).toBe('EXPIRED')
  expect(guard({ ...anchored, ...shallow, ...unfed }).value).toBe('STABLE_SUSPENDED')
  expect(guard({ ...shallow, ...unfed }).value).toBe('BELOW_MIN_DEPTH')
  expect(guard({ ...unfed }).value).toBe('FEED')
  expect(guard({})).toEqual({ value: null, untilMs: FOREVER })
  expect(guard({ capacity: { value: null, untilMs: FOREVER } }).value).toBe('BELOW_MIN_DEPTH')
})

it('R-timer-3: a failed guard stays failed until it expires, except for depth that is still growing', () => {
  const soonMs = ms(T + 60_000)
  expect(guard(expired).untilMs).toBe(FOREVER)
  expect(guard({ anchorRule: 'NO_ANCHOR' }).untilMs).toBe(EXPIRES)
  expect(guard(unfed).untilMs).toBe(EXPIRES)
  expect(guard(shallow).untilMs).toBe(EXPIRES)
  expect(guard({ capacity: { value: 1n, untilMs: soonMs } }).untilMs).toBe(soonMs)
  expect(guard({ capacity: { value: 1n, untilMs: ms(EXPIRES + 1) } }).untilMs).toBe(EXPIRES)
  expect(guard({ capacity: { value: LEAST, untilMs: soonMs } })).toEqual({ value: null, untilMs: soonMs })
})
