/**
 * Coverage of a routing asset: the depth of its accepted anchors against the depth reported by external sources. It
 * lowers or caps the score of the anchors and of every route over them; it never creates or removes a price.
 */
import type { Address } from '../../chain/block.ts'
import { coverage } from '../../rules/coverage.ts'
import type { Timed } from '../../rules/timed.ts'
import { weaker } from '../../units.ts'
import type { Edge, Route } from '../evaluation.ts'
import type { Moment } from '../moment.ts'
import { settledRoute } from '../routes/candidate.ts'

/** The asset's routes with S_anchor = min(S_edge, S_coverage) on their first hops. */
export function anchorRoutes(moment: Moment, asset: Address, accepted: readonly Route[]): Timed<Route[]> {
  let anchorsMicrousd = 0n
  for (const edge of new Set(accepted.map(route => route.first))) anchorsMicrousd += edge.capacity ?? 0n
  const external = moment.state.coverage.get(asset) ?? null
  const { value: covered, untilMs } = coverage(anchorsMicrousd, external, moment.policy, moment.atMs)
  const anchors = new Map<Edge, Edge>()
  const value = accepted.map(route => {
    const edge = route.first
    const anchor = anchors.get(edge) ?? moment.coveredEdge(edge, covered)
    anchors.set(edge, anchor)
    return {
      ...settledRoute(route),
      first: anchor,
      edges: [anchor, ...route.edges.slice(1)],
      score: weaker(route.score, anchor.score),
    }
  })
  return { value, untilMs }
}
