/**
 * From candidate routes to observations: weigh them over shared edges, remove those a guard refuses, and
 * set the dust aside so that only routes that matter vote on the price.
 */
import { bitLength, MAX_BITS } from '../exact/bits.ts'
import * as ratio from '../exact/ratio.ts'
import type { Fraction } from '../exact/ratio.ts'
import { type Count, count } from '../units.ts'
import { weigh } from './capacity.ts'
import { type Consensus, consensus } from './consensus.ts'
import type { Edge, Route, RouteDraft } from './evaluation.ts'
import { rejectImbalanced } from './imbalance.ts'
import type { Moment } from './moment.ts'
import type { Failure } from './reasons.ts'

export type Vote = {
  /** The routes that voted, in the order `verdict` numbers them. */
  readonly observations: readonly RouteDraft[]
  /** Qualified routes too small to be heard. */
  readonly dust: readonly Route[]
  readonly verdict: Consensus
}

const NO_WEIGHT: Failure = { rule: 'NO_WEIGHT', actual: '0 microusd', required: 'more than 0' }

/** Routes that a guard refuses move over to `failed`. Null when nothing is left to weigh. */
export function vote(moment: Moment, live: readonly RouteDraft[], failed: Route[]): Vote | null {
  const routes = qualify(moment, live, failed)
  const byFirst = weightByFirst(routes)
  let total = 0n
  for (const weight of byFirst.values()) total += weight
  if (total === 0n) {
    failed.push(...routes.map(route => ({ ...route, failure: NO_WEIGHT })))
    return null
  }
  const least = total * BigInt(moment.policy.observation_share_bps)
  const observations: RouteDraft[] = []
  const dust: Route[] = []
  for (const route of routes)
    if ((byFirst.get(firstOf(route)) as bigint) * 10_000n >= least) observations.push(route)
    else {
      route.exclusion = 'IMMATERIAL'
      dust.push(route)
    }
  const verdict = consensus(
    observations.map(route => ({
      id: route.id,
      price: route.price as Fraction,
      weight: route.weight,
      capacity: route.capacity,
      source: firstOf(route).pool,
    })),
  )
  return verdict === null ? null : { observations, dust, verdict }
}

export const firstOf = (route: Route): Edge => route.edges[0] as Edge

/** Weight of all routes that start in the same pool. */
export function weightByFirst(routes: readonly Route[]): Map<Edge, bigint> {
  const weights = new Map<Edge, bigint>()
  for (const route of routes) weights.set(firstOf(route), (weights.get(firstOf(route)) ?? 0n) + route.weight)
  return weights
}

function qualify(moment: Moment, live: readonly RouteDraft[], failed: Route[]): readonly RouteDraft[] {
  const weighed = withWeights(live.filter(route => fits(route, failed)))
  const kept = rejectImbalanced(moment.policy, weighed, failed)
  return kept.length === weighed.length ? weighed : withWeights(kept)
}

/** Past 4096 bits there is no price along this route, and the others are not touched by it. */
function fits(route: Route, failed: Route[]): boolean {
  const price = route.price as Fraction
  if (bitLength(price.num) <= MAX_BITS && bitLength(price.den) <= MAX_BITS) return true
  const outcome = ratio.reduce(price.num, price.den)
  if (!ratio.isTooLarge(outcome)) return true
  failed.push({
    ...route,
    failure: { rule: 'TOO_LARGE', actual: `${outcome.bits} bits`, required: `${MAX_BITS} bits` },
  })
  return false
}

function withWeights(routes: readonly RouteDraft[]): readonly RouteDraft[] {
  const numbers = new Map<Edge, Count>()
  const capacities: bigint[] = []
  const paths = routes.map(route =>
    route.edges.map(edge => {
      let at = numbers.get(edge)
      if (at === undefined) {
        at = count(capacities.push(edge.capacity as bigint) - 1)
        numbers.set(edge, at)
      }
      return at
    }),
  )
  const { weight } = weigh(paths, capacities)
  routes.forEach((route, at) => {
    route.weight = weight[at] as bigint
  })
  return routes
}
