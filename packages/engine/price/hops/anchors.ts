/**
 * Coverage of a routing asset: the depth of its accepted anchors against the depth known elsewhere. It
 * lowers or caps the score of the anchors and of every route over them; it never makes or breaks a price.
 */
import type { Address } from '../../chain/block.ts'
import { type Ms, score, type Score, weaker } from '../../units.ts'
import { settledRoute } from '../routes/candidate.ts'
import { coverage, nextCoverageBoundary } from '../../rules/coverage.ts'
import type { Coverage, Edge, EdgeComponents, Route } from '../evaluation.ts'
import type { Moment } from '../moment.ts'
import type { Cap } from '../../rules/reasons.ts'

/** The asset's routes with S_anchor = min(S_edge, S_coverage) on their first hops. */
export function anchorRoutes(moment: Moment, asset: Address, accepted: readonly Route[]): Route[] {
  const covered = coverageOf(moment, asset, accepted)
  const anchors = new Map<Edge, Edge>()
  return accepted.map(route => {
    const edge = route.first
    const anchor = anchors.get(edge) ?? withCoverage(edge, covered)
    anchors.set(edge, anchor)
    return {
      ...settledRoute(route),
      first: anchor,
      edges: [anchor, ...route.edges.slice(1)],
      score: weaker(route.score, anchor.score),
    }
  })
}

/** When the external depth will be too old to count. */
export const coverageDue = (moment: Moment, asset: Address): Ms | null =>
  nextCoverageBoundary(moment.state.coverage.get(asset) ?? null, moment.policy, moment.atMs)

function coverageOf(moment: Moment, asset: Address, accepted: readonly Route[]): Coverage {
  let anchorsMicrousd = 0n
  for (const edge of new Set(accepted.map(route => route.first))) anchorsMicrousd += edge.capacity ?? 0n
  return coverage(anchorsMicrousd, moment.state.coverage.get(asset) ?? null, moment.policy, moment.atMs)
}

/** The same hop with one more component; what it is otherwise stays as it was worked out. */
function withCoverage(edge: Edge, covered: Coverage): Edge {
  const components = { ...edge.components, coverage: covered }
  const caps = [...edge.caps, ...covered.caps]
  return {
    pool: edge.pool,
    state: edge.state,
    ratio: edge.ratio,
    near: edge.near,
    bits: edge.bits,
    marginal: edge.marginal,
    scale: edge.scale,
    effectiveY: edge.effectiveY,
    averageY: edge.averageY,
    capacity: edge.capacity,
    isClimbing: edge.isClimbing,
    toUsd: edge.toUsd,
    unitMicrousd: edge.unitMicrousd,
    finality: edge.finality,
    settled: edge.settled,
    verifiedMs: edge.verifiedMs,
    expiresAtMs: edge.expiresAtMs,
    freshness: edge.freshness,
    dueMs: edge.dueMs,
    failure: edge.failure,
    components,
    caps,
    score: weakest(components, caps),
  }
}

/** The least of all components and caps. */
function weakest(components: EdgeComponents, caps: readonly Cap[]): Score {
  let least = score(10)
  for (const component of Object.values(components))
    if (component !== null) least = weaker(least, component.score)
  for (const { cap } of caps) least = weaker(least, cap)
  return least
}
