import type { Boundary } from './adapter.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fraction } from '../exact/fraction.ts'
import { cases, natural } from '../testing/cases.ts'
import { HIGHEST_LIMIT, limitAbove, limitBelow, LOWEST_LIMIT, rootOf, rootsOf } from './priceLimit.ts'
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO } from './tickMath.ts'

const price = natural(160).filter(value => value >= MIN_SQRT_RATIO && value < MAX_SQRT_RATIO)
/** The ladder, squares of fractions, and anything. */
const up: fc.Arbitrary<Fraction> = fc.oneof(
  fc.constantFrom(101n, 102n, 105n, 110n).map(num => ({ num, den: 100n })),
  fc.tuple(natural(20), natural(20)).map(([a, b]) => ({ num: (a + b) * (a + b), den: a * a })),
  fc.tuple(natural(64), natural(64)).map(([a, b]) => ({ num: a + b, den: a })),
)
const down = up.map(({ num, den }) => ({ num: den, den: num }))

/** Whether a square-root price is at most r times another in price, by the definition. */
const atMost = (value: bigint, reference: bigint, { num, den }: Fraction) =>
  value * value * den <= reference * reference * num
const atLeast = (value: bigint, reference: bigint, { num, den }: Fraction) =>
  value * value * den >= reference * reference * num

describe('price limit', () => {
  it('R-ticks-5: above is the greatest price still inside', () => {
    fc.assert(
      fc.property(price, up, (value, boundary) => {
        const limit = limitAbove(value, rootOf(boundary))
        expect(atMost(limit, value, boundary)).toBe(true)
        expect(limit === HIGHEST_LIMIT || !atMost(limit + 1n, value, boundary)).toBe(true)
      }),
      { numRuns: cases(3000) },
    )
  })

  it('R-ticks-5: below is the smallest price still inside', () => {
    fc.assert(
      fc.property(price, down, (value, boundary) => {
        const limit = limitBelow(value, rootOf(boundary))
        expect(atLeast(limit, value, boundary)).toBe(true)
        expect(limit === LOWEST_LIMIT || !atLeast(limit - 1n, value, boundary)).toBe(true)
      }),
      { numRuns: cases(3000) },
    )
  })

  it('lies on the boundary when the boundary is an integer', () => {
    expect(limitAbove(10n ** 20n, rootOf({ num: 121n, den: 100n }))).toBe(11n * 10n ** 19n)
    expect(limitBelow(10n ** 20n, rootOf({ num: 81n, den: 100n }))).toBe(9n * 10n ** 19n)
    expect(limitAbove(10n ** 20n, rootOf({ num: 1n, den: 1n }))).toBe(10n ** 20n)
    expect(limitBelow(10n ** 20n, rootOf({ num: 7n, den: 7n }))).toBe(10n ** 20n)
  })

  it('compares the squares when 192 bits of the root cannot decide', () => {
    // sqrt(1 + e) for e = 1/2^400 and a price of 2^159: the product is within 2^-40 of an integer.
    const value = 1n << 159n
    const hair = { num: (1n << 400n) + 1n, den: 1n << 400n }
    expect(limitAbove(value, rootOf(hair))).toBe(value)
    expect(limitBelow(value, rootOf({ num: hair.den, den: hair.num }))).toBe(value)
    // And where s*root is just above an integer by less than the interval: (s+1)^2/s^2 plus a hair.
    const s = (1n << 150n) + 12345n
    const above = { num: (s + 1n) * (s + 1n) * hair.num, den: s * s * hair.den }
    expect(limitAbove(s, rootOf(above))).toBe(s + 1n)
    const under = { num: (s + 1n) * (s + 1n) * hair.den, den: s * s * hair.num }
    expect(limitAbove(s, rootOf(under))).toBe(s)
  })

  it('turns the boundary over when X is token1', () => {
    const boundary: Boundary = { up: { num: 102n, den: 100n }, down: { num: 98n, den: 100n } }
    fc.assert(
      fc.property(price, value => {
        const { below, above } = rootsOf(boundary, 1)
        const low = limitBelow(value, below)
        const high = limitAbove(value, above)
        // The price of token1 is 2^192 / s^2: up 102/100 means s^2 * 102 >= s0^2 * 100.
        expect(low * low * 102n >= value * value * 100n).toBe(true)
        expect(low === LOWEST_LIMIT || (low - 1n) * (low - 1n) * 102n < value * value * 100n).toBe(true)
        expect(high * high * 98n <= value * value * 100n).toBe(true)
        expect(high === HIGHEST_LIMIT || (high + 1n) * (high + 1n) * 98n > value * value * 100n).toBe(true)
      }),
      { numRuns: cases(1000) },
    )
    expect(rootsOf(boundary, 0)).toBe(rootsOf(boundary, 0))
  })

  it('stays where a swap can go', () => {
    const far = rootOf({ num: 1n, den: 10n ** 60n })
    expect(limitBelow(MIN_SQRT_RATIO, rootOf({ num: 98n, den: 100n }))).toBe(LOWEST_LIMIT)
    expect(limitBelow(MAX_SQRT_RATIO - 1n, far)).toBeGreaterThanOrEqual(LOWEST_LIMIT)
    expect(limitAbove(MAX_SQRT_RATIO - 2n, rootOf({ num: 102n, den: 100n }))).toBe(HIGHEST_LIMIT)
  })

  it('refuses a boundary on the wrong side', () => {
    const good = { num: 102n, den: 100n }
    const bad = { num: 98n, den: 100n }
    expect(() => rootsOf({ up: bad, down: bad }, 0)).toThrow('price')
    expect(() => rootsOf({ up: good, down: good }, 0)).toThrow('price')
    expect(() => rootOf({ num: 0n, den: 1n })).toThrow('positive')
  })
})
