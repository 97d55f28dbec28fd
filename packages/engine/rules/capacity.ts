/**
 * How much of the depth each route may claim (R-weight-1, R-weight-2): a physical pool contributes its capacity
 * once, however many routes go through it.
 *
 * For every edge the weights of the routes using it add up to at most its depth. A weight rounds down to
 * the microdollar, once, so the sum can only fall short.
 */
import { assert } from '../assert.ts'

/** Per route, in microdollars, in the order of the routes; `load` is per edge. */
export type Capacity<Edge> = {
  /** b_r, the least depth on the route. */
  readonly capacity: readonly bigint[]
  /** B_e, the total claim of the routes through an edge. */
  readonly load: ReadonlyMap<Edge, bigint>
  /** w_r, the share of b_r that fits through every edge. */
  readonly weight: readonly bigint[]
}

/** A route is a list of edges; each edge occurs at most once. */
export function weigh<Edge>(
  routes: readonly (readonly Edge[])[],
  depthOf: (edge: Edge) => bigint | null | undefined,
): Capacity<Edge> {
  const load = new Map<Edge, bigint>()
  const capacity = routes.map(route => {
    const least = leastDepth(route, depthOf)
    for (const edge of route) load.set(edge, (load.get(edge) ?? 0n) + least)
    return least
  })
  const weight = routes.map((route, at) => {
    const claimed = capacity[at] as bigint
    let fits = claimed
    for (const edge of route) {
      const depth = depthOf(edge) as bigint
      const wanted = load.get(edge) as bigint
      if (wanted <= depth) continue
      // floor(b × min x) equals the least floor(b × x), so the smallest quotient is found without comparing
      // fractions, and nothing is rounded earlier.
      const share = (claimed * depth) / wanted
      if (share < fits) fits = share
    }
    return fits
  })
  return { capacity, load, weight }
}

function leastDepth<Edge>(
  route: readonly Edge[],
  depthOf: (edge: Edge) => bigint | null | undefined,
): bigint {
  let least: bigint | null = null
  for (const edge of route) {
    const depth = depthOf(edge)
    assert(depth != null && depth >= 0n, () => `an edge has depth ${depth}`)
    if (least === null || depth < least) least = depth
  }
  assert(least !== null, 'a route has at least one edge')
  return least
}
