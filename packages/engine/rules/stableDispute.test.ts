import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Fraction } from '../exact/fraction.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'
import { cases } from '../testing/cases.ts'
import { type DisputePool, type DisputeSide, stableDispute } from './stableDispute.ts'

const MILLION = 10n ** 12n
const ONE: DisputeSide = { usd: { num: 1n, den: 1n }, isFresh: true }
const stale: DisputeSide = { ...ONE, isFresh: false }

/** Y per X, off by so many ten-thousandths of what the feeds say. */
const off = (bps: bigint): Fraction => ({ num: 10_000n + bps, den: 10_000n })
const pool = (bps: bigint, averageMicrousd = MILLION, weight = averageMicrousd): DisputePool => ({
  id: `${bps} ${averageMicrousd}`,
  median: off(bps),
  weight,
  averageMicrousd,
})
const dispute = (pools: readonly DisputePool[], x = ONE, y = ONE) =>
  stableDispute(x, y, pools, DEFAULT_POLICY)
const capOf = (...pools: readonly DisputePool[]) => dispute(pools)?.cap ?? 10
const twice = (bps: bigint) => [pool(bps), { ...pool(bps), id: 'another' }]

it('R-dispute-3: the cheaper of two stables against the ratio of their feeds is the disputed one', () => {
  expect(dispute(twice(-101n))?.disputed).toBe('X')
  expect(dispute(twice(101n))?.disputed).toBe('Y')
  // At answers of 0.97 and 1.00 a market at par means that Y is worth less than its answer.
  const x: DisputeSide = { usd: { num: 97n, den: 100n }, isFresh: true }
  expect(dispute(twice(0n), x, ONE)).toMatchObject({ disputed: 'Y', market: off(0n) })
})

it('R-dispute-3: pools that agree with the feeds dispute nothing, and neither do no pools', () => {
  expect([capOf(...twice(100n)), capOf(...twice(-99n)), capOf()]).toEqual([10, 10, 10])
})

it('R-dispute-4: more than 100 bps caps at 3, more than 500 bps at 1, where two pools say so', () => {
  expect([101n, 500n, 501n, -101n, -400n, -600n].map(bps => capOf(...twice(bps)))).toEqual([3, 3, 1, 3, 3, 1])
})

it('R-dispute-4: or one pool with an average of at least 2,500,000 USD', () => {
  const deep = 2_500_000n * 1_000_000n
  expect([capOf(pool(300n, deep)), capOf(pool(900n, deep))]).toEqual([3, 1])
  expect([capOf(pool(300n, deep - 1n)), capOf(pool(900n, deep - 1n))]).toEqual([6, 6])
})

it('R-dispute-4: a second pool supports only its own deviation', () => {
  const heavy = pool(900n, 2n * MILLION)
  // Within 100 bps, or on the other side, it has no effect; past 100 but not past 500 it gives the milder cap.
  expect(capOf(heavy, pool(50n))).toBe(6)
  expect(capOf(heavy, pool(-900n))).toBe(6)
  expect(capOf(heavy, pool(200n))).toBe(3)
  expect(capOf(heavy, pool(700n))).toBe(1)
  // The median is 200 bps away: pools further out do not make it worse than that.
  expect(
    capOf(pool(200n, 3n * MILLION, 3n), { ...pool(900n), weight: 1n }, { ...pool(901n), weight: 1n }),
  ).toBe(3)
})

it('R-dispute-5: only a fresh feed disputes, and its other side is the disputed one', () => {
  for (const bps of [-300n, 300n]) {
    expect(dispute(twice(bps), ONE, stale)?.disputed).toBe('Y')
    expect(dispute(twice(bps), stale, ONE)?.disputed).toBe('X')
    expect(dispute(twice(bps), stale, stale)).toBe(null)
  }
})

it('R-dispute-3: reversing the pair disputes the same stable by the same cap', () => {
  const side = fc
    .record({ num: fc.bigInt(90n, 110n), isFresh: fc.boolean() })
    .map(({ num, isFresh }): DisputeSide => ({ usd: { num, den: 100n }, isFresh }))
  const some = fc.array(
    fc.record({
      bps: fc.bigInt(-1200n, 1200n),
      average: fc.bigInt(250_000n, 5_000_000n),
      weight: fc.bigInt(1n, 9n),
    }),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(side, side, some, (x, y, given) => {
      const pools = given.map(({ bps, average, weight }, at) => ({
        ...pool(bps, average * 1_000_000n, weight),
        id: `${at}`,
      }))
      const turned = pools.map(each => ({ ...each, median: { num: each.median.den, den: each.median.num } }))
      const [one, other] = [dispute(pools, x, y), dispute(turned, y, x)]
      // Where two pools share the middle, the median is the lower one either way round.
      const total = given.reduce((sum, { weight }) => sum + weight, 0n)
      const sorted = given.toSorted((a, b) => Number(a.bps - b.bps))
      let cumulative = 0n
      const isShared = sorted.some(({ weight }) => 2n * (cumulative += weight) === total)
      if (isShared) return
      expect(one?.cap).toBe(other?.cap)
      if (one !== null) expect(one.disputed).toBe(other?.disputed === 'X' ? 'Y' : 'X')
    }),
    { numRuns: cases(500) },
  )
})
