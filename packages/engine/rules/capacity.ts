/**
 * How much of the depth each route may claim (R-weight-1, R-weight-2): a physical pool contributes its capacity
 * once, however many routes go through it.
 *
 * For every edge the weights of the routes using it add up to at most its depth. A weight rounds down to
 * the microdollar, once, so the sum can only fall short.
 */
import { assert } from '../assert.ts'
import type { Count } from '../units.ts'
import type { Edge, RouteDraft } from '../price/evaluation.ts'

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

/** What `share` asks of a route. */
export type Claim = Pick<RouteDraft, 'capacity' | 'weight'> & {
  readonly first: Depth
  readonly via: { readonly route: { readonly capacity: bigint; readonly edges: readonly Depth[] } } | null
}

type Depth = Pick<Edge, 'capacity'>

/**
 * The same weights given to the routes of a token in place; says what they claim together. An edge as deep as that is
 * never crowded: behind its first hop a token seldom meets another, and what cannot bind is not added up.
 */
export function share(routes: readonly Claim[]): bigint {
  const load = sumByFirst(routes, ({ capacity }) => capacity)
  let total = 0n
  for (const claimed of load.values()) total += claimed
  for (const { via, capacity } of routes)
    if (isCrowded(via, total))
      for (const edge of via.route.edges) load.set(edge, (load.get(edge) ?? 0n) + capacity)
  let last: Claim | null = null
  let part = 0n
  for (const route of routes) {
    const { first, via, capacity } = route
    // Routes that go on from one hop mostly claim all of it, each the same part.
    if (last === null || last.first !== first || last.capacity !== capacity)
      part = partOf(capacity, first, load)
    last = route
    let fits = part
    if (isCrowded(via, total))
      for (const edge of via.route.edges) {
        const behind = partOf(capacity, edge, load)
        if (behind < fits) fits = behind
      }
    route.weight = fits
  }
  return total
}

/** What the routes that start in the same pool have together. */
export function sumByFirst<Of extends { readonly first: unknown }>(
  routes: readonly Of[],
  amountOf: (route: Of) => bigint,
): Map<Of['first'], bigint> {
  const sums = new Map<Of['first'], bigint>()
  let sum = 0n
  // They mostly stand side by side.
  for (let at = 0; at < routes.length; at++) {
    const route = routes[at] as Of
    sum += amountOf(route)
    if (routes[at + 1]?.first === route.first) continue
    sums.set(route.first, (sums.get(route.first) ?? 0n) + sum)
    sum = 0n
  }
  return sums
}

/** Whether all claims together would not fit through what lies behind the first hop. */
const isCrowded = (via: Claim['via'], total: bigint): via is NonNullable<Claim['via']> =>
  via !== null && via.route.capacity < total

/** ⌊claimed × min(1, L_e/B_e)⌋. */
function partOf(claimed: bigint, edge: Depth, load: ReadonlyMap<Depth, bigint>): bigint {
  const depth = edge.capacity as bigint
  const wanted = load.get(edge) as bigint
  return wanted <= depth ? claimed : (claimed * depth) / wanted
}
