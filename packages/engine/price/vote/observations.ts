/**
 * From candidate routes to observations: weight them over shared edges, remove those that a guard rejects, and remove
 * the dust, so that only routes that matter vote on the price.
 */
import { MAX_BITS } from '../../exact/bits.ts'
import * as ratio from '../../exact/ratio.ts'
import type { Fraction } from '../../exact/fraction.ts'
import type { Candidate } from '../routes/candidate.ts'
import { share, sumByFirst } from '../../memory/sharedCapacity.ts'
import { type Consensus, consensus, type Observation } from '../../rules/consensus.ts'
import type { Edge, Route } from '../evaluation.ts'
import { immaterialAmong } from '../../rules/observationFloor.ts'
import { rejectImbalanced } from '../../rules/valueImbalance.ts'
import type { Moment } from '../moment.ts'
import type { Failure } from '../../rules/reasons.ts'

export type Vote = {
  /** The routes that voted, in the order that `verdict` indexes. */
  readonly observations: readonly Candidate[]
  /** Qualified routes too small to vote. */
  readonly dust: readonly Route[]
  readonly verdict: Consensus
  /** The total capacity of all of them. */
  readonly claimed: bigint
  /** Weight of all routes that start in the same pool, the dust included. */
  readonly byFirst: ReadonlyMap<Edge, bigint>
}

const NO_WEIGHT: Failure = { rule: 'NO_WEIGHT', actual: '0 microusd', required: 'more than 0' }

/** Routes that a guard rejects move to `failed`. Null when no route is left to weigh. */
export function vote(moment: Moment, live: readonly Candidate[], failed: Route[]): Vote | null {
  const { routes, claimed } = qualify(moment, live, failed)
  const byFirst = weightByFirst(routes)
  let total = 0n
  for (const weight of byFirst.values()) total += weight
  if (total === 0n) {
    for (const route of routes) fail(route, NO_WEIGHT, failed)
    return null
  }
  const small = immaterialAmong(moment.policy, routes, byFirst, total, ({ via }) => via !== null)
  const dust = small.size === 0 ? [] : routes.filter(route => small.has(route))
  const observations = small.size === 0 ? routes : routes.filter(route => !small.has(route))
  for (const route of dust) route.exclusion = 'IMMATERIAL'
  // A route at this point has a price, although it may not be computed yet.
  const priced = observations as readonly (Candidate & Observation)[]
  const verdict = consensus(priced, moment.policy.revision === 1 ? null : total)
  return verdict === null ? null : { observations, dust, verdict, claimed, byFirst }
}

/** Weight of all routes that start in the same pool. */
export const weightByFirst = (routes: readonly Route[]): Map<Edge, bigint> =>
  sumByFirst(routes, ({ weight }) => weight)

function qualify(moment: Moment, live: readonly Candidate[], failed: Route[]) {
  const fitting = live.every(({ bits }) => bits <= MAX_BITS)
    ? live
    : live.filter(route => fits(route, failed))
  const claimed = share(fitting)
  const routes = rejectImbalanced(moment.policy, fitting, failed)
  return { routes, claimed: routes.length < fitting.length ? share(routes) : claimed }
}

/** Beyond 4096 bits this route has no price; the other routes are not affected. */
function fits(route: Candidate, failed: Route[]): boolean {
  if (route.bits <= MAX_BITS) return true
  const price = route.price as Fraction
  const outcome = ratio.reduce(price.num, price.den)
  if (!ratio.isTooLarge(outcome)) return true
  const failure: Failure = { rule: 'TOO_LARGE', actual: `${outcome.bits} bits`, required: `${MAX_BITS} bits` }
  fail(route, failure, failed)
  return false
}

function fail(route: Candidate, failure: Failure, failed: Route[]): void {
  route.failure = failure
  failed.push(route)
}
