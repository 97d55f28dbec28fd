/**
 * Coverage of a routing asset: the depth of its accepted anchors against the depth known elsewhere. It
 * lowers or caps the score of the anchors and of every route over them; it never makes or breaks a price.
 */
import type { Address } from '../chain/block.ts'
import { type Ms, weaker } from '../units.ts'
import { coverage, nextCoverageBoundary } from './coverage.ts'
import { weakest } from './edge.ts'
import type { Coverage, Edge, Route } from './evaluation.ts'
import type { Moment } from './moment.ts'
import { firstOf } from './observations.ts'

/** The asset's routes with S_anchor = min(S_edge, S_coverage) on their first hops. */
export function anchorRoutes(moment: Moment, asset: Address, accepted: readonly Route[]): Route[] {
  const covered = coverageOf(moment, asset, accepted)
  const anchors = new Map<Edge, Edge>()
  return accepted.map(route => {
    const edge = firstOf(route)
    const anchor = anchors.get(edge) ?? withCoverage(edge, covered)
    anchors.set(edge, anchor)
    return { ...route, edges: [anchor, ...route.edges.slice(1)], score: weaker(route.score, anchor.score) }
  })
}

/** When the external depth will be too old to count. */
export const coverageDue = (moment: Moment, asset: Address): Ms | null =>
  nextCoverageBoundary(moment.state.coverage.get(asset) ?? null, moment.policy, moment.atMs)

function coverageOf(moment: Moment, asset: Address, accepted: readonly Route[]): Coverage {
  let anchorsMicrousd = 0n
  for (const edge of new Set(accepted.map(firstOf))) anchorsMicrousd += edge.capacity ?? 0n
  return coverage(anchorsMicrousd, moment.state.coverage.get(asset) ?? null, moment.policy, moment.atMs)
}

function withCoverage(edge: Edge, covered: Coverage): Edge {
  const components = { ...edge.components, coverage: covered }
  const caps = [...edge.caps, ...covered.caps]
  return { ...edge, components, caps, score: weakest(components, caps) }
}
