/**
 * Candidate routes of a token: a hop to a stable, or a hop to a routing asset followed by one of that asset's own
 * accepted routes of the same moment.
 *
 * Routes are acyclic by construction: assets are valued in their listed order, and an asset only ever continues along
 * the routes of an asset before it. A failed route is kept with its reason.
 */
import * as fraction from '../../exact/fraction.ts'
import type { Fraction } from '../../exact/fraction.ts'
import { Candidate } from './candidate.ts'
import type { Edge, Route, Valuation } from '../evaluation.ts'
import type { Moment } from '../moment.ts'
import type { Sign } from '../../units.ts'

/**
 * Every candidate over a hop that passed its guards, qualified or failed; of the qualified ones at most `max_routes`,
 * chosen by capacity.
 */
export function routesOf(
  moment: Moment,
  edges: readonly Edge[],
): { readonly live: Candidate[]; readonly failed: Route[] } {
  const live: Candidate[] = []
  const failed: Route[] = []
  const isExcluding = moment.excluded.size > 0
  for (const edge of edges) {
    if (edge.rule !== null || (isExcluding && moment.excluded.has(edge.pool.address))) continue
    addThrough(moment, edge, live, failed)
  }
  const { max_routes } = moment.policy
  if (live.length <= max_routes) return { live, failed }
  const kept = new Set(live.toSorted(byCapacity).slice(0, max_routes))
  for (const route of live) {
    if (kept.has(route)) continue
    route.failure = { rule: 'TOO_MANY_ROUTES', actual: null, required: `${max_routes}` }
    failed.push(route)
  }
  return { live: live.filter(route => kept.has(route)), failed }
}

function addThrough(moment: Moment, edge: Edge, live: Candidate[], failed: Route[]): void {
  const { pool } = edge
  const stable = moment.stable(pool.to)
  if (stable !== null) {
    live.push(Candidate.toStable(edge, stable))
    return
  }
  // A live edge that does not end in a stable ends in a valued, priced routing asset.
  for (const via of (moment.valuations.get(pool.to) as Valuation).onward) {
    const { edges } = via.route
    if (edges.length < moment.policy.max_hops) live.push(Candidate.through(edge, via))
    else
      failed.push(
        Candidate.dead(edge, edges, {
          rule: 'TOO_MANY_HOPS',
          actual: `${edges.length + 1}`,
          required: `at most ${moment.policy.max_hops}`,
        }),
      )
  }
}

/** The fee-free price along a route, used to decide whether the price has moved. */
export function marginalUsdOf(route: Route): Fraction {
  let value = route.stable?.usd as Fraction
  for (const edge of route.edges) value = fraction.times(value, edge.derived.marginal as Fraction)
  return value
}

/** Deepest first, ties by route id. */
export const byCapacity = (a: Route, b: Route): Sign =>
  a.capacity !== b.capacity ? (a.capacity > b.capacity ? -1 : 1) : byId(a, b)

/** Heaviest first, ties by route id. */
export const byWeight = (a: Route, b: Route): Sign =>
  a.weight !== b.weight ? (a.weight > b.weight ? -1 : 1) : byId(a, b)

/** A route id begins with that of its first pool, and those are equally long: the whole id is seldom needed. */
function byId(a: Route, b: Route): Sign {
  const [first, other] = [a.first.pool, b.first.pool]
  const [left, right] = first === other ? [a.id, b.id] : [first.id, other.id]
  return left < right ? -1 : left > right ? 1 : 0
}
