import { expect, it } from 'vitest'
import { DEFAULT_POLICY } from '../policy/policy.ts'
import { count, score } from '../units.ts'
import { bpsScore, isAtMost } from './bpsBands.ts'

it('R-agreement-5: a deviation on a bound is within it, the least excess is not', () => {
  const { spread } = DEFAULT_POLICY.agreement
  expect(bpsScore(spread, { num: 0n, den: 1n })).toBe(10)
  expect(bpsScore(spread, { num: 25n * 10n ** 30n, den: 10n ** 30n })).toBe(10)
  expect(bpsScore(spread, { num: 25n * 10n ** 30n + 1n, den: 10n ** 30n })).toBe(8)
  expect(bpsScore(spread, { num: 1_001n, den: 1n })).toBe(2)
  expect(bpsScore({ up_to: [[count(5), score(4)]], beyond: score(1) }, { num: 6n, den: 1n })).toBe(1)
})

it('R-exact-7: a deviation is compared with its bound when neither side, or only one, is in the range of doubles', () => {
  for (const bits of [1022n, 1023n, 1024n, 1025n, 4096n]) {
    const den = 1n << bits
    for (const bps of [1n, 50n, 10_000n]) {
      expect(isAtMost({ num: den * bps, den }, bps)).toBe(true)
      expect(isAtMost({ num: den * bps + 1n, den }, bps)).toBe(false)
      expect(isAtMost({ num: den * bps - den / 2n, den }, bps)).toBe(true)
      expect(isAtMost({ num: den * bps + den / 2n, den }, bps)).toBe(false)
    }
  }
})
