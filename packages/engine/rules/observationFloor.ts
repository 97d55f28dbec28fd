/**
 * The floor of a vote: the share of the weight below which a first-hop pool, or a pool of a pair, is left out
 * (R-dust-1).
 */
import type { Policy } from '../policy/policy.ts'
import { BPS } from '../units.ts'

/** The greatest floor, in basis points of `total`, at which the pools that reach it carry enough weight together. */
export function floorOf(policy: Policy, weights: readonly bigint[], total: bigint): bigint {
  if (policy.revision === 1) return BigInt(policy.observation_share_bps)
  const enough = total * BigInt(policy.observation_kept_bps)
  let floor = 0n
  for (const bps of policy.observation_floors_bps) {
    floor = BigInt(bps)
    const least = leastHeard(total, floor)
    let kept = 0n
    for (const weight of weights) if (weight >= least) kept += weight
    if (kept * BPS >= enough) return floor
  }
  return floor
}

/**
 * The least weight that votes: ⌈total × floor⌉, and more than zero. A pool exactly on the floor votes; a pool without
 * weight does not.
 */
export function leastHeard(total: bigint, floor: bigint): bigint {
  const least = (total * floor + BPS - 1n) / BPS
  return least > 0n ? least : 1n
}

/**
 * The routes that take no part: those of first hops below the floor of the total weight, and those below the floor of
 * their first hop's weight. When no route of a hop reaches the floor, the hop keeps them all. `byFirst` is the weight
 * of each first hop.
 */
export function immaterialAmong<First, Route extends { readonly first: First; readonly weight: bigint }>(
  policy: Policy,
  routes: readonly Route[],
  byFirst: ReadonlyMap<First, bigint>,
  total: bigint,
  isOnward: (route: Route) => boolean,
): ReadonlySet<Route> {
  const floor = floorOf(policy, [...byFirst.values()], total)
  const leastOfHops = leastHeard(total, floor)
  const immaterial = new Set<Route>()
  const small: Route[] = []
  // The routes of a hop follow each other, so its least weight is computed once.
  let hop: First | null = null
  let leastOfRoutes = 0n
  const isSmall = ({ first, weight }: Route): boolean => {
    if (first !== hop) {
      hop = first
      leastOfRoutes = leastHeard(byFirst.get(first) as bigint, floor)
    }
    return weight < leastOfRoutes
  }
  for (const route of routes) {
    if ((byFirst.get(route.first) as bigint) < leastOfHops) immaterial.add(route)
    else if (policy.revision > 1 && isOnward(route) && isSmall(route)) small.push(route)
  }
  if (small.length === 0) return immaterial
  const reached = new Set<First>()
  for (const route of routes) if (!isOnward(route) || !isSmall(route)) reached.add(route.first)
  for (const route of small) if (reached.has(route.first)) immaterial.add(route)
  return immaterial
}
