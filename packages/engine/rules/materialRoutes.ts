/**
 * Which routes a price rests on: those that start in a heavy first hop and continue along the routes their routing
 * asset rests on (R-material-1).
 */
import type { Policy } from '../policy/policy.ts'
import type { Route, RouteDraft } from '../price/evaluation.ts'
import { BPS } from '../units.ts'

/** The weight of the accepted routes per first hop, and the total. */
export function materialHops<First>(
  policy: Policy,
  accepted: ReadonlyMap<First, bigint>,
  keptWeight: bigint,
  idOf: (first: First) => string,
): Set<First> {
  const share = policy.revision === 1 ? policy.source_share_bps : policy.material_share_bps
  const needed = keptWeight * BigInt(share)
  const hops = new Set<First>()
  let together = 0n
  for (const [first, weight] of accepted) {
    if (weight * BPS < needed) continue
    hops.add(first)
    together += weight
  }
  if (policy.revision === 1 || 2n * together >= keptWeight) return hops
  const rest = [...accepted].filter(([first]) => !hops.has(first))
  rest.sort(([a, weightA], [b, weightB]) =>
    weightA === weightB ? (idOf(a) < idOf(b) ? -1 : 1) : weightA > weightB ? -1 : 1,
  )
  for (const [first, weight] of rest) {
    if (2n * together >= keptWeight) break
    hops.add(first)
    together += weight
  }
  return hops
}

/**
 * Marks the accepted routes a price rests on. When none continues along what its asset rests on, the price rests on
 * the selected route.
 */
export function markMaterial<Draft extends RouteDraft>(
  policy: Policy,
  accepted: readonly Draft[],
  hops: ReadonlySet<Route['first']>,
  selected: Draft,
): void {
  let isAny = false
  for (const route of accepted) {
    route.material = hops.has(route.first) && (route.via === null || route.via.route.material)
    if (route.material) isAny = true
  }
  if (policy.revision === 1 || !isAny) selected.material = true
}
