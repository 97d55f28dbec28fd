/** Which routes a price rests on: those that start in a source and go on along what their routing asset rests on (R-path-1, R-material-1). */
import type { Policy } from '../policy/policy.ts'
import type { Edge, Route } from '../price/evaluation.ts'

/** The token's own first hops with at least a tenth of the accepted weight. */
export function sourcesOf(
  policy: Policy,
  accepted: ReadonlyMap<Edge, bigint>,
  keptWeight: bigint,
): Set<Edge> {
  const needed = keptWeight * BigInt(policy.source_share_bps)
  const sources = new Set<Edge>()
  for (const [edge, weight] of accepted) if (weight * 10_000n >= needed) sources.add(edge)
  return sources
}

export const isMaterial = (route: Route, sources: ReadonlySet<Edge>): boolean =>
  sources.has(route.first) && (route.via === null || route.via.route.material)
