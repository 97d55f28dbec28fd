import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { count, type Ms, ms } from '../units.ts'
import { crossesAt, medianHoldsUntil, type Weighed, weightAt } from './averageCrossing.ts'
import { type DepthAverage, value } from './depthAverage.ts'
import { FOREVER } from './timed.ts'
import { halfOf } from './weightedMedian.ts'

const T = 1_700_000_000_000
const amount = fc.bigInt(0n, 10n ** 9n)
const anAverage: fc.Arbitrary<DepthAverage> = fc.record({
  e: amount.map(each => each << 32n),
  l: amount,
  t0: fc.integer({ min: T, max: T + 4_000_000 }).map(ms),
})
const aTime = fc.integer({ min: T, max: T + 8_000_000 }).map(ms)

it('R-dispute-6: an average is on one side of a bound until the time named, and then on the other', () => {
  fc.assert(
    fc.property(anAverage, amount, aTime, fc.nat(10_000_000), (average, bound, atMs, step) => {
      const isBelow = (t: Ms) => value(average, t) < bound
      const untilMs = crossesAt(average, bound, atMs)
      const laterMs = ms(Math.min(atMs + step, untilMs - 1))
      expect(isBelow(laterMs)).toBe(isBelow(atMs))
      if (untilMs !== FOREVER) {
        expect(isBelow(ms(untilMs - 1))).toBe(isBelow(atMs))
        expect(isBelow(untilMs)).toBe(!isBelow(atMs))
      }
    }),
    { numRuns: cases(600) },
  )
})

const medianAt = (pools: readonly Weighed[], t: Ms): number => {
  const weights = pools.map(pool => weightAt(pool, t))
  const half = halfOf(weights.reduce((sum, weight) => sum + weight, 0n))
  let cumulative = 0n
  return weights.findIndex(weight => {
    cumulative += weight
    return cumulative >= half
  })
}

it('R-dispute-6: the weighted median of pools that still grow is unchanged until the time named', () => {
  const aPool: fc.Arbitrary<Weighed> = anAverage.map(average => ({ depthY: average.l, average }))
  fc.assert(
    fc.property(
      fc.array(aPool, { minLength: 1, maxLength: 6 }),
      aTime,
      fc.nat(5_000_000),
      (pools, atMs, step) => {
        fc.pre(pools.some(pool => weightAt(pool, atMs) > 0n))
        const median = medianAt(pools, atMs)
        const untilMs = medianHoldsUntil(pools, count(median), atMs)
        expect(untilMs).toBeGreaterThan(atMs)
        for (const t of [atMs + step, untilMs - 1]) {
          const laterMs = ms(Math.min(t, untilMs - 1, atMs + 2 ** 27))
          expect(medianAt(pools, laterMs)).toBe(median)
        }
      },
    ),
    { numRuns: cases(400) },
  )
})

it('R-dispute-6: pools with their whole depth on average never change places by time alone', () => {
  const full = (l: bigint): Weighed => ({ depthY: l, average: { e: l << 32n, l, t0: ms(T) } })
  expect(medianHoldsUntil([full(5n), full(7n), full(5n)], count(1), ms(T + 1))).toBe(FOREVER)
})
