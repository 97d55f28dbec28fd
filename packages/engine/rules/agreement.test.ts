import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../assert.ts'
import { cases } from '../testing/cases.ts'
import { type Count, count, score } from '../units.ts'
import { edgeAgreement, formerPathAgreement, pathAgreement, type Support } from './agreement.ts'
import { bpsScore } from './bpsBands.ts'
import { FORMER_POLICY } from '../policy/former.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'

const perfect: Support = {
  sources: count(9),
  deployments: count(3),
  spreadBps: { num: 0n, den: 1n },
  keptWeight: 100n,
  totalWeight: 100n,
  unresolved: false,
}
const edge = (changes: Partial<Support>) => edgeAgreement({ ...perfect, ...changes }, DEFAULT_POLICY)
const path = (changes: Partial<Support>, bySources = 10) =>
  pathAgreement({ ...perfect, ...changes }, score(bySources), DEFAULT_POLICY)
const former = (changes: Partial<Support>) => formerPathAgreement({ ...perfect, ...changes }, FORMER_POLICY)
const counts = (...values: readonly Count[]) => values
const [none, one, two, three, four, five, six] = [0, 1, 2, 3, 4, 5, 6].map(count) as [
  Count,
  Count,
  Count,
  Count,
  Count,
  Count,
  Count,
]

describe('edge agreement', () => {
  it('R-agreement-3: 1 pool of the pair gives 8, 2 give 9, 3 and more give 10', () => {
    expect(counts(one, two, three, four, five).map(sources => edge({ sources }).score)).toEqual([
      8, 9, 10, 10, 10,
    ])
  })

  it('R-agreement-4: a single pool is usable but capped: SINGLE_POOL_PAIR', () => {
    expect(edge({ sources: one }).caps).toEqual([{ code: 'SINGLE_POOL_PAIR', cap: 8 }])
    expect(edge({ sources: two }).caps).toEqual([])
  })

  it('does not ask for two deployments', () => {
    expect(edge({ deployments: one })).toMatchObject({ score: 10, caps: [] })
  })
})

describe('path agreement', () => {
  it('R-path-2: is at most what the sources are worth together', () => {
    for (const worth of [5, 6, 7, 8, 9, 10]) expect(path({}, worth).score).toBe(worth)
  })

  it('R-path-3: a single source, or none, is capped at 5: SINGLE_SOURCE', () => {
    for (const sources of [none, one])
      expect(path({ sources, deployments: one }, 5).caps).toEqual([{ code: 'SINGLE_SOURCE', cap: 5 }])
    expect(path({ sources: two, deployments: one }, 5).caps).toEqual([])
  })

  it('R-policy-4: in revision 1 the number of sources decides: 5, 7, 8, 9, 10', () => {
    const scores = counts(one, two, three, four, five, six).map(sources => former({ sources }).score)
    expect(scores).toEqual([5, 7, 8, 9, 10, 10])
  })

  it('R-policy-4: in revision 1 fewer than two deployments cap at 8', () => {
    expect(former({ deployments: one })).toMatchObject({
      score: 8,
      caps: [{ code: 'SINGLE_DEPLOYMENT', cap: 8 }],
    })
    expect(former({ sources: one, deployments: one }).caps.map(({ code }) => code)).toEqual([
      'SINGLE_SOURCE',
      'SINGLE_DEPLOYMENT',
    ])
  })

  it('R-policy-4: in revision 1 no pool large enough to be a source counts as one', () => {
    expect(former({ sources: none, deployments: none })).toMatchObject({ score: 5, sources: 0 })
    expect(former({ sources: none, deployments: none }).caps[0]).toEqual({ code: 'SINGLE_SOURCE', cap: 5 })
  })
})

describe('both', () => {
  it('R-agreement-5: spread ≤ 25 gives 10, ≤ 50 8, ≤ 100 6, ≤ 200 5, ≤ 500 4, ≤ 1000 3, above 2', () => {
    const bounds = [25n, 50n, 100n, 200n, 500n, 1_000n]
    const at = bounds.map(bps => edge({ spreadBps: { num: 3n * bps, den: 3n } }).score)
    const past = bounds.map(bps => path({ spreadBps: { num: 3n * bps + 1n, den: 3n } }).score)
    expect(at).toEqual([10, 8, 6, 5, 4, 3])
    expect(past).toEqual([8, 6, 5, 4, 3, 2])
  })

  it('R-agreement-5: retained 100% gives 10, ≥ 90% 8, ≥ 80% 6, ≥ 67% 5', () => {
    const kept = [1_000n, 999n, 900n, 899n, 800n, 799n, 670n]
    const scores = kept.map(keptWeight => edge({ keptWeight, totalWeight: 1_000n }).score)
    expect(scores).toEqual([10, 8, 8, 6, 6, 5, 5])
    expect(path({ keptWeight: 10n ** 30n - 1n, totalWeight: 10n ** 30n })).toMatchObject({
      score: 8,
      retainedBps: 9_999,
    })
  })

  it('R-agreement-6: an unresolved split caps at 2: NO_INDEPENDENT_CONSENSUS', () => {
    expect(edge({ unresolved: true })).toMatchObject({
      score: 2,
      caps: [{ code: 'NO_INDEPENDENT_CONSENSUS', cap: 2 }],
    })
    expect(path({ unresolved: true })).toMatchObject({
      score: 2,
      caps: [{ code: 'NO_INDEPENDENT_CONSENSUS', cap: 2 }],
    })
  })

  it('R-agreement-3: the score is the minimum of source count, spread, retained support and caps', () => {
    const supports = fc.record({
      sources: fc.integer({ min: 1, max: 7 }).map(count),
      deployments: fc.integer({ min: 1, max: 3 }).map(count),
      spreadBps: fc.record({ num: fc.bigInt(0n, 5_000n), den: fc.bigInt(1n, 9n) }),
      keptWeight: fc.bigInt(67n, 100n),
      totalWeight: fc.constant(100n),
      unresolved: fc.boolean(),
    })
    fc.assert(
      fc.property(supports, support => {
        const { retained, spread, edge_sources, path_sources } = DEFAULT_POLICY.agreement
        const bySpread = bpsScore(spread, support.spreadBps)
        const byRetained = retained.find(([from]) => support.keptWeight * 100n >= BigInt(from))?.[1]
        for (const [found, table] of [
          [edgeAgreement(support, DEFAULT_POLICY), edge_sources],
          [formerPathAgreement(support, DEFAULT_POLICY), path_sources],
        ] as const) {
          const bySources = table[Math.min(support.sources, table.length) - 1]
          const parts = [bySources, bySpread, byRetained, ...found.caps.map(({ cap }) => cap)]
          expect(found.score).toBe(Math.min(...parts.map(part => part ?? -1)))
          expect(found).toMatchObject({
            sources: support.sources,
            deployments: support.deployments,
            spreadBps: support.spreadBps,
            retainedBps: Number(support.keptWeight) * 100,
            unresolved: support.unresolved,
          })
        }
      }),
      { numRuns: cases(2500) },
    )
  })

  it('refuses a kept weight that consensus cannot produce', () => {
    expect(() => edge({ keptWeight: 66n })).toThrow(InvariantError)
    expect(() => edge({ keptWeight: 101n })).toThrow(InvariantError)
  })
})
