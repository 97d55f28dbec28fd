import { furtherFrom, furtherFromApprox } from '../exact/fraction.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../assert.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { cases, natural } from '../testing/cases.ts'
import type { Count, Approx } from '../units.ts'
import { ascending, devBps, devRatio, weightedMedian } from './weightedMedian.ts'

const aFraction: fc.Arbitrary<Fraction> = fc.record({ num: natural(200), den: natural(200) })
/** Few distinct values, written in many ways, so that ties happen. */
const aCoarseFraction = fc
  .tuple(fc.bigInt(1n, 5n), fc.bigInt(1n, 3n), natural(90))
  .map(([num, den, shared]) => ({ num: num * shared, den: den * shared }))
const items = fc.uniqueArray(
  fc.record({ id: fc.string({ maxLength: 3 }), price: aCoarseFraction, weight: fc.bigInt(0n, 20n) }),
  { minLength: 1, maxLength: 12, selector: ({ id }) => id },
)

const isBelow = (a: Fraction, b: Fraction): boolean => a.num * b.den < b.num * a.den
const isEqual = (a: Fraction, b: Fraction): boolean => a.num * b.den === b.num * a.den

describe('ascending', () => {
  it('R-exact-5: prices are sorted first; ties in price by id', () => {
    fc.assert(
      fc.property(items, given => {
        const order = ascending(given)
        expect([...order].sort((a, b) => a - b)).toEqual(given.map((_, at) => at))
        for (let at = 1; at < order.length; at++) {
          const [a, b] = [given[order[at - 1] as Count], given[order[at] as Count]] as const
          if (a === undefined || b === undefined) expect.fail('an index out of range')
          expect(isBelow(a.price, b.price) || (isEqual(a.price, b.price) && a.id < b.id)).toBe(true)
        }
      }),
      { numRuns: cases(2000) },
    )
  })
})

describe('weightedMedian', () => {
  it('R-exact-5: is the first index k where 2 × (sum of weights up to k) reaches the total weight', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(0n, 50n), { minLength: 1, maxLength: 15 }), weights => {
        const total = weights.reduce((sum, weight) => sum + weight, 0n)
        fc.pre(total > 0n)
        const upTo = (k: Count) => weights.slice(0, k + 1).reduce((sum, weight) => sum + weight, 0n)
        const reaching = weights.map((_, k) => k as Count).filter(k => 2n * upTo(k) >= total)
        const indices = weights.map((_, k) => k as Count)
        expect(weightedMedian(indices, k => weights[k] as bigint)).toBe(reaching[0])
      }),
      { numRuns: cases(3000) },
    )
  })

  it('depends on the prices, not on their order', () => {
    fc.assert(
      fc.property(items, fc.infiniteStream(fc.nat()), (given, keys) => {
        fc.pre(given.some(({ weight }) => weight > 0n))
        const shuffled = given
          .map(item => ({ item, key: keys.next().value as Count }))
          .sort((a, b) => a.key - b.key)
          .map(({ item }) => item)
        const idOf = (list: typeof given) =>
          list[weightedMedian(ascending(list), at => (list[at] as (typeof given)[0]).weight)]?.id
        expect(idOf(shuffled)).toBe(idOf(given))
      }),
      { numRuns: cases(1500) },
    )
  })

  it('takes the lower of two equal halves', () => {
    expect(weightedMedian([1n, 2n], () => 5n)).toBe(1n)
  })

  it('never picks an item without weight', () => {
    expect(weightedMedian([1n, 2n, 3n], item => (item === 3n ? 1n : 0n))).toBe(3n)
  })

  it('has no result without weight', () => {
    expect(() => weightedMedian([1n], () => 0n)).toThrow(InvariantError)
  })
})

describe('deviation', () => {
  const half = { num: 1n, den: 2n }
  const one = { num: 7n, den: 7n }

  it('R-exact-6: dev_bps(p, q) = 10000 × (max(p/q, q/p) − 1)', () => {
    expect(devRatio(half, one)).toEqual({ num: 14n, den: 7n })
    const { num, den } = devBps(half, one)
    expect(num).toBe(10_000n * den)
    expect(devBps(one, one).num).toBe(0n)
  })

  it('is the same both ways, and of the reciprocals', () => {
    fc.assert(
      fc.property(aFraction, aFraction, (p, q) => {
        expect(isEqual(devRatio(p, q), devRatio(q, p))).toBe(true)
        expect(devBps({ num: p.den, den: p.num }, { num: q.den, den: q.num })).toEqual(devBps(p, q))
      }),
      { numRuns: cases(1500) },
    )
  })

  it('compares the two sides of a centre as their deviations compare', () => {
    fc.assert(
      fc.property(fc.array(aCoarseFraction, { minLength: 3, maxLength: 3 }), prices => {
        const [below, centre, above] = ascending(prices.map((price, at) => ({ id: `${at}`, price }))).map(
          at => prices[at] as Fraction,
        ) as [Fraction, Fraction, Fraction]
        const down = devRatio(below, centre)
        const up = devRatio(above, centre)
        const expected = isEqual(up, down) ? 0 : isBelow(up, down) ? -1 : 1
        expect(furtherFrom(centre, below, above)).toBe(expected)
        const approxes = [centre, below, above].map(fraction.approx) as [Approx, Approx, Approx]
        expect([0, expected]).toContain(furtherFromApprox(...approxes))
      }),
      { numRuns: cases(1500) },
    )
  })
})
