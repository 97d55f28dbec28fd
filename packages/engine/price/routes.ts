/**
 * Candidate routes of a token: a hop to a stable, or a hop to a routing asset followed by one of that
 * asset's own accepted routes of the same moment.
 *
 * Acyclic by construction: assets are valued in their listed order and an asset only ever continues on the
 * routes of one before it. A route that fails is kept with its reason, for whoever asks why not.
 */
import type { Address } from '../chain/block.ts'
import type { Fraction } from '../exact/ratio.ts'
import type { Pool } from '../state.ts'
import { score, type Score } from '../units.ts'
import { edgeOf } from './edge.ts'
import type { Edge, Route, RouteDraft, Valuation } from './evaluation.ts'
import type { Moment } from './moment.ts'
import type { Failure } from './reasons.ts'
import { stableView } from './stableView.ts'

/** Every candidate, qualified or failed; at most `max_routes` of the qualified ones, kept by capacity. */
export function routesOf(
  moment: Moment,
  token: Address,
): { readonly live: RouteDraft[]; readonly failed: Route[] } {
  const live: RouteDraft[] = []
  const failed: Route[] = []
  for (const pool of moment.state.index.ownPools.get(token) ?? []) {
    if (moment.excluded.has(pool.address)) continue
    const edge = edgeOf(moment, pool)
    if (edge.failure !== null) failed.push(dead([edge], edge.failure))
    else addThrough(moment, pool, edge, live, failed)
  }
  if (live.length > moment.policy.max_routes) {
    live.sort(byCapacity)
    for (const route of live.splice(moment.policy.max_routes))
      failed.push({
        ...route,
        failure: { rule: 'TOO_MANY_ROUTES', actual: null, required: `${moment.policy.max_routes}` },
      })
  }
  return { live, failed }
}

function addThrough(moment: Moment, pool: Pool, edge: Edge, live: RouteDraft[], failed: Route[]): void {
  const ratio = edge.ratio as Fraction
  const capacity = edge.capacity as bigint
  const stable = stableView(moment, pool.to)
  if (stable !== null) {
    live.push(draft(pool.id, [edge], stable, null, times(ratio, stable.usd), capacity, edge.score))
    return
  }
  // A live edge that does not end in a stable ends in a valued, priced routing asset.
  const { evaluation, onward } = moment.valuations.get(pool.to) as Valuation
  const assetScore = evaluation.kind === 'PRICED' ? evaluation.score : 0
  for (const via of onward) {
    const { route } = via
    if (route.edges.length >= moment.policy.max_hops) {
      failed.push(
        dead([edge, ...route.edges], {
          rule: 'TOO_MANY_HOPS',
          actual: `${route.edges.length + 1}`,
          required: `at most ${moment.policy.max_hops}`,
        }),
      )
      continue
    }
    live.push(
      draft(
        `${pool.id}-${route.id}`,
        [edge, ...route.edges],
        route.stable,
        via,
        times(ratio, route.price as Fraction),
        least(capacity, route.capacity),
        score(Math.min(edge.score, route.score, assetScore)),
      ),
    )
  }
}

/** The fee-free price along a route: what "has it moved" is asked of. */
export function marginalUsdOf(route: Route): Fraction {
  let value = route.stable?.usd as Fraction
  for (const edge of route.edges) value = times(value, edge.marginal as Fraction)
  return value
}

const draft = (
  id: string,
  edges: readonly Edge[],
  stable: Route['stable'],
  via: Route['via'],
  price: Fraction | null,
  capacity: bigint,
  routeScore: Score,
): RouteDraft => ({
  id,
  edges,
  stable,
  via,
  price,
  capacity,
  weight: 0n,
  score: routeScore,
  failure: null,
  exclusion: null,
  material: false,
})

const dead = (edges: readonly Edge[], failure: Failure): Route => {
  const id = edges.length === 1 ? (edges[0] as Edge).pool.id : edges.map(edge => edge.pool.id).join('-')
  const route = draft(id, edges, null, null, null, edges[0]?.capacity ?? 0n, score(0))
  route.failure = failure
  return route
}

const times = (a: Fraction, b: Fraction): Fraction => ({ num: a.num * b.num, den: a.den * b.den })
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Deepest first, ties by route id. */
export const byCapacity = (a: Route, b: Route): -1 | 0 | 1 =>
  a.capacity !== b.capacity ? (a.capacity > b.capacity ? -1 : 1) : a.id < b.id ? -1 : a.id > b.id ? 1 : 0

/** Heaviest first, ties by route id. */
export const byWeight = (a: Route, b: Route): -1 | 0 | 1 =>
  a.weight !== b.weight ? (a.weight > b.weight ? -1 : 1) : a.id < b.id ? -1 : a.id > b.id ? 1 : 0
