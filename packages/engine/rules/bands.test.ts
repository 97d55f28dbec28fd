import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { count, ms, score } from '../units.ts'
import * as bands from './bands.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'

const USD = 1_000_000n

const against = (num: bigint, den: bigint) =>
  bands.temporalScore({ num, den }, { median: { num: 7n, den: 7n }, coveredMs: ms(300_000) })

describe('depth', () => {
  it('R-depth-5: 0 gives 0, then 1, and one more at 500, 1k, 2.5k, 5k, 10k, 25k, 50k, 100k and 250k', () => {
    expect(bands.depthScore(0n)).toBe(0)
    expect(bands.depthScore(1n)).toBe(1)
    const bounds = [500n, 1_000n, 2_500n, 5_000n, 10_000n, 25_000n, 50_000n, 100_000n, 250_000n]
    expect(bounds.map(usd => bands.depthScore(usd * USD))).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('R-depth-5: a value on a band boundary belongs to the higher band', () => {
    expect(bands.depthScore(500n * USD - 1n)).toBe(1)
    expect(bands.depthScore(500n * USD)).toBe(2)
    expect(bands.depthScore(250_000n * USD - 1n)).toBe(9)
  })

  it('never falls as depth grows', () => {
    const amount = fc.oneof(fc.bigInt(0n, 10n ** 9n), fc.bigInt(0n, 10n ** 13n))
    fc.assert(
      fc.property(amount, amount, (depth, more) => {
        expect(bands.depthScore(depth + more)).toBeGreaterThanOrEqual(bands.depthScore(depth))
      }),
      { numRuns: cases(1000) },
    )
  })
})

describe('coverage', () => {
  it('R-coverage-1: bands at 0.3, 0.6, 1, 2, 3, 6, 10, 17.5 and 25%', () => {
    const external = 100_000n
    const shares = [300n, 600n, 1_000n, 2_000n, 3_000n, 6_000n, 10_000n, 17_500n, 25_000n]
    expect(shares.map(share => bands.coverageScore(share - 1n, external))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9,
    ])
    expect(shares.map(share => bands.coverageScore(share, external))).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('R-coverage-1: 0 depth gives 0; any positive depth scores at least 1', () => {
    expect(bands.coverageScore(0n, 10n)).toBe(0)
    expect(bands.coverageScore(1n, 10n ** 40n)).toBe(1)
  })
})

describe('freshness', () => {
  it('R-fresh-4: up to 0.1, 0.2, 0.4, 0.6, 0.8 of the TTL, below 1, expired', () => {
    const ages = [0, 100, 101, 200, 201, 400, 401, 600, 601, 800, 801, 999, 1_000, 5_000]
    expect(ages.map(age => bands.freshnessScore(ms(age), ms(1_000)))).toEqual([
      10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 0, 0,
    ])
  })

  it('R-fresh-4: expired gives 0 and disqualifies', () => {
    expect(bands.freshnessExpired(ms(999), ms(1_000))).toBe(false)
    expect(bands.freshnessExpired(ms(1_000), ms(1_000))).toBe(true)
    expect(bands.nextFreshnessBoundary(ms(1_000), ms(1_000))).toBeNull()
  })

  it('R-timer-1: the next boundary is the first age of the next lower band', () => {
    const ttl = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 3_600_000 }))
    fc.assert(
      fc.property(ttl, fc.double({ min: 0, max: 1.1, noNaN: true }), (ttlMs, share) => {
        const age = ms(Math.floor(ttlMs * share))
        const now = bands.freshnessScore(age, ms(ttlMs))
        const next = bands.nextFreshnessBoundary(age, ms(ttlMs))
        if (next === null) {
          expect(now).toBe(0)
          return
        }
        expect(next).toBeGreaterThan(age)
        expect(bands.freshnessScore(ms(next - 1), ms(ttlMs))).toBe(now)
        expect(bands.freshnessScore(next, ms(ttlMs))).toBeLessThan(now)
      }),
      { numRuns: cases(2500) },
    )
  })
})

describe('temporal', () => {
  it('R-temporal-4: up to 1% gives 10, 2% gives 8, 5% gives 5, above gives 2', () => {
    const prices = [10_000n, 10_100n, 10_101n, 10_200n, 10_201n, 10_500n, 10_501n, 90_000n]
    const expected = [10, 10, 8, 8, 5, 5, 2, 2]
    expect(prices.map(price => against(price, 10_000n))).toEqual(expected)
    expect(prices.map(price => against(10_000n, price))).toEqual(expected)
  })

  it('R-temporal-3: insufficient history gives 5', () => {
    const reference = { reason: 'INSUFFICIENT_HISTORY', coveredMs: ms(1) } as const
    expect(bands.temporalScore({ num: 1n, den: 1n }, reference)).toBe(5)
  })
})

describe('feed and state', () => {
  it('R-edge-3: HEALTHY 10, DEGRADED 3, GAP 0, UNAVAILABLE 0', () => {
    expect((['HEALTHY', 'DEGRADED', 'GAP', 'UNAVAILABLE'] as const).map(bands.feedScore)).toEqual([
      10, 3, 0, 0,
    ])
  })

  it('R-edge-4: unverified 0, canonical 8, finalized 10', () => {
    expect((['unverified', 'canonical', 'finalized'] as const).map(bands.stateScore)).toEqual([0, 8, 10])
  })
})

describe('basis-point bands of the policy', () => {
  it('a deviation on a bound is within it, the least beyond it is not', () => {
    const { spread } = DEFAULT_POLICY.agreement
    expect(bands.bpsScore(spread, { num: 0n, den: 1n })).toBe(10)
    expect(bands.bpsScore(spread, { num: 25n * 10n ** 30n, den: 10n ** 30n })).toBe(10)
    expect(bands.bpsScore(spread, { num: 25n * 10n ** 30n + 1n, den: 10n ** 30n })).toBe(9)
    expect(bands.bpsScore(spread, { num: 1_001n, den: 1n })).toBe(2)
    expect(bands.bpsScore({ up_to: [[count(5), score(4)]], beyond: score(1) }, { num: 6n, den: 1n })).toBe(1)
  })
})

describe('label', () => {
  it('R-score-4: labels exactly Unusable, Low, Medium, High, Very high', () => {
    const labels = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(value => bands.label(score(value)))
    expect(labels.slice(0, 1)).toEqual(['Unusable'])
    expect(labels.slice(1, 4)).toEqual(['Low', 'Low', 'Low'])
    expect(labels.slice(4, 7)).toEqual(['Medium', 'Medium', 'Medium'])
    expect(labels.slice(7, 9)).toEqual(['High', 'High'])
    expect(labels.slice(9)).toEqual(['Very high', 'Very high'])
  })
})
