/**
 * How well independent sources agree (R-agreement-3, R-path-2): the pools of a pair, and a token's own first hops.
 *
 * The score is the minimum of the source count, the spread and the retained weight, under every cap whose condition
 * holds. A cap is listed even when another one is lower.
 */
import { assert } from '../assert.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Pool } from '../entities.ts'
import { type Count, count, type Ms, type Score, score } from '../units.ts'
import { bpsScore } from './bpsBands.ts'
import { effective } from './depthAverage.ts'
import type { Agreement } from '../price/evaluation.ts'
import type { Policy } from '../policy/policy.ts'
import type { Cap } from './reasons.ts'
import { bandOf } from './sources.ts'

export type Support = {
  /** Verified pools of the pair, or first-hop pools that support the published price. */
  readonly sources: Count
  /** Distinct deployments among them. */
  readonly deployments: Count
  readonly spreadBps: Fraction
  readonly keptWeight: bigint
  readonly totalWeight: bigint
  readonly unresolved: boolean
}

/** The cap without independent consensus (R-agreement-6). Operators cannot raise it. */
const UNRESOLVED_CAP: Cap = { code: 'NO_INDEPENDENT_CONSENSUS', cap: score(2) }

/** Agreement among the verified pools of one pair. */
export function edgeAgreement(support: Support, policy: Policy): Agreement {
  const bySources = bandOf(policy.agreement.edge_sources, support.sources)
  const caps: Cap[] = support.sources <= 1 ? [{ code: 'SINGLE_POOL_PAIR', cap: bySources }] : []
  return agreement(support, bySources, caps, policy)
}

/** Agreement among the sources of one token; `bySources` is the combined score of those sources. */
export function pathAgreement(support: Support, bySources: Score, policy: Policy): Agreement {
  const single = bandOf(policy.agreement.path_sources, count(1))
  const caps: Cap[] = support.sources <= 1 ? [{ code: 'SINGLE_SOURCE', cap: single }] : []
  return agreement(support, bySources, caps, policy)
}

/** The rule of revision 1: sources count by number alone, and sources of a single deployment share its bugs. */
export function formerPathAgreement(support: Support, policy: Policy): Agreement {
  const bySources = bandOf(policy.agreement.path_sources, support.sources)
  const caps: Cap[] = support.sources <= 1 ? [{ code: 'SINGLE_SOURCE', cap: bySources }] : []
  if (support.deployments < 2)
    caps.push({ code: 'SINGLE_DEPLOYMENT', cap: policy.agreement.single_deployment_cap })
  return agreement(support, bySources, caps, policy)
}

function agreement(support: Support, bySources: Score, caps: Cap[], policy: Policy): Agreement {
  const { sources, deployments, spreadBps, keptWeight, totalWeight, unresolved } = support
  assert(totalWeight > 0n && keptWeight <= totalWeight, () => `kept ${keptWeight} of ${totalWeight}`)
  if (unresolved) caps.push(UNRESOLVED_CAP)
  // Rounds down. The bounds of the bands are whole basis points, so rounding never changes the band.
  const retainedBps = count(Number((10_000n * keptWeight) / totalWeight))
  let least = Math.min(
    bySources,
    bpsScore(policy.agreement.spread, spreadBps),
    retainedScore(policy.agreement.retained, retainedBps),
  )
  for (const { cap } of caps) if (cap < least) least = cap
  return { score: score(least), caps, bySources, sources, deployments, spreadBps, retainedBps, unresolved }
}

function retainedScore(bands: Policy['agreement']['retained'], retainedBps: Count): Score {
  const band = bands.find(([from]) => retainedBps >= from)
  // Consensus keeps at least 67%, and the last band of a valid policy starts no higher.
  assert(band !== undefined, () => `no band for ${retainedBps} bps of retained weight`)
  return band[1]
}

/** The weight of a pool among the pools of its pair: its effective depth in Y (R-agreement-1). */
export const pairWeight = ({ state: { average } }: Pool, atMs: Ms): bigint =>
  average === null ? 0n : effective(average, atMs)
