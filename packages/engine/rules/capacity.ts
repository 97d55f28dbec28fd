/**
 * How much of the depth each route may claim (R-weight-1, R-weight-2): a physical pool contributes its capacity
 * once, however many routes go through it.
 *
 * For every edge the weights of the routes using it add up to at most its depth. A weight rounds down to
 * the microdollar, once, so the sum can only fall short.
 */
import { assert } from '../assert.ts'
import type { Count } from '../units.ts'

/** Per route, in microdollars, in the order of the routes; `load` is per edge. */
export type Capacity = {
  /** b_r, the least depth on the route. */
  readonly capacity: readonly bigint[]
  /** B_e, what the routes through an edge would claim together. */
  readonly load: readonly bigint[]
  /** w_r, the share of b_r that fits through every edge. */
  readonly weight: readonly bigint[]
}

/** A route is the indices of its edges in `depths`, each at most once. */
export function weigh(routes: readonly (readonly Count[])[], depths: readonly bigint[]): Capacity {
  const load: bigint[] = depths.map(() => 0n)
  const capacity: bigint[] = []
  for (const route of routes) {
    const least = leastDepth(route, depths)
    capacity.push(least)
    for (const edge of route) load[edge] = (load[edge] as bigint) + least
  }

  const weight: bigint[] = []
  for (let at = 0; at < routes.length; at++) {
    const claimed = capacity[at] as bigint
    let fits = claimed
    for (const edge of routes[at] as readonly Count[]) {
      const depth = depths[edge] as bigint
      const wanted = load[edge] as bigint
      if (wanted <= depth) continue
      // floor(b × min x) is the least floor(b × x): the smallest quotient is found without comparing
      // fractions, and nothing is rounded before it.
      const share = (claimed * depth) / wanted
      if (share < fits) fits = share
    }
    weight.push(fits)
  }
  return { capacity, load, weight }
}

function leastDepth(route: readonly Count[], depths: readonly bigint[]): bigint {
  assert(route.length > 0, 'a route has at least one edge')
  let least = depths[route[0] as Count] as bigint
  for (const edge of route) {
    const depth = depths[edge]
    assert(depth !== undefined && depth >= 0n, () => `edge ${edge} has depth ${depth}`)
    if (depth < least) least = depth
  }
  return least
}
