import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { ms } from '../units.ts'
import { coverage } from './coverage.ts'
import { FOREVER } from './timed.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'

const T = ms(1_700_000_000_000)
const DAY = 86_400_000
const external = { depthMicrousd: 1_000n, asOfMs: T }
const at = (anchors: bigint, offset = ms(0)) =>
  coverage(anchors, external, DEFAULT_POLICY, ms(T + offset)).value

describe('coverage', () => {
  it('R-coverage-1: bands at 0.3, 0.6, 1, 2, 3, 6, 10, 17.5 and 25%', () => {
    const score = (anchors: bigint) =>
      coverage(anchors, { depthMicrousd: 100_000n, asOfMs: T }, DEFAULT_POLICY, T).value.score
    const shares = [300n, 600n, 1_000n, 2_000n, 3_000n, 6_000n, 10_000n, 17_500n, 25_000n]
    expect(shares.map(share => score(share - 1n))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(shares.map(score)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('R-coverage-1: is Σ L_eff of the accepted anchors over the external 2% depth', () => {
    expect(at(250n)).toEqual({ score: 10, caps: [], anchorsMicrousd: 250n, externalMicrousd: 1_000n })
    expect(at(249n).score).toBe(9)
    expect(at(0n).score).toBe(0)
  })

  it('R-coverage-1: any positive depth scores at least 1', () => {
    const market = { depthMicrousd: 10n ** 30n, asOfMs: T }
    expect(coverage(1n, market, DEFAULT_POLICY, T).value.score).toBe(1)
  })

  it('R-coverage-2: no data caps the anchors at 8: COVERAGE_UNKNOWN', () => {
    expect(coverage(10n ** 20n, null, DEFAULT_POLICY, T).value).toEqual({
      score: 8,
      caps: [{ code: 'COVERAGE_UNKNOWN', cap: 8 }],
      anchorsMicrousd: 10n ** 20n,
      externalMicrousd: null,
    })
    expect(coverage(5n, { depthMicrousd: 1n, asOfMs: T }, DEFAULT_POLICY, T).value.score).toBe(10)
    expect(
      coverage(5n, { depthMicrousd: 0n, asOfMs: T }, DEFAULT_POLICY, T).value.externalMicrousd,
    ).toBeNull()
  })

  it('R-coverage-2: data older than 24 h counts as none; exactly 24 h old is not older', () => {
    expect(at(250n, ms(DAY)).score).toBe(10)
    expect(at(250n, ms(DAY + 1))).toMatchObject({ score: 8, caps: [{ code: 'COVERAGE_UNKNOWN' }] })
    expect(at(0n, ms(DAY + 1)).score).toBe(0)
  })

  it('R-timer-1: it is valid until the data turns too old', () => {
    const until = (data: typeof external | null, offset = 0) =>
      coverage(1n, data, DEFAULT_POLICY, ms(T + offset)).untilMs
    expect(until(external)).toBe(T + DAY + 1)
    expect(until(external, DAY + 1)).toBe(FOREVER)
    expect(until(null)).toBe(FOREVER)
  })

  it('R-coverage-4: external data may lower or cap a score and cannot create one', () => {
    const depth = fc.bigInt(0n, 10n ** 6n)
    fc.assert(
      fc.property(depth, depth, fc.integer({ min: 0, max: 2 * DAY }), (anchors, market, ageMs) => {
        const found = coverage(
          anchors,
          { depthMicrousd: market, asOfMs: T },
          DEFAULT_POLICY,
          ms(T + ageMs),
        ).value
        expect(found.score === 0).toBe(anchors === 0n)
        for (const { cap } of found.caps) expect(found.score).toBeLessThanOrEqual(cap)
      }),
      { numRuns: cases(1000) },
    )
  })
})
