/**
 * VALUE_IMBALANCE: a pool whose both sides are priced elsewhere and whose own ratio is more than ten times
 * away from that. Such a pool is deep, self-consistent and wrong.
 *
 * "Elsewhere" must itself be a consensus: other first hops that agree among themselves have to carry the share
 * that a rejection of outliers needs. Two equal halves that disagree stay an unresolved split.
 */
import * as ratio from '../exact/ratio.ts'
import { display } from '../exact/decimal.ts'
import type { Fraction } from '../exact/ratio.ts'
import { asNear } from '../units.ts'
import type { Edge, Route } from './evaluation.ts'
import type { Policy } from './policy.ts'
import type { Failure } from './reasons.ts'
import { ascending, type Orderable, weightedMedian } from './weightedMedian.ts'

const CONSENSUS_PERCENT = 67n

export function rejectImbalanced<Candidate extends Route>(
  policy: Policy,
  routes: readonly Candidate[],
  failed: Route[],
): readonly Candidate[] {
  const first = routes[0]
  const isOneSource = routes.every(route => route.edges[0] === first?.edges[0])
  if (isOneSource || !spansMoreThan(routes, BigInt(policy.imbalance_ratio))) return routes
  const factor = BigInt(policy.imbalance_ratio)
  const refused = new Map<Edge, Failure>()
  const total = weightOf(routes)
  for (const edge of new Set(routes.map(firstOf))) {
    const [own, others] = [
      routes.filter(route => firstOf(route) === edge),
      routes.filter(route => firstOf(route) !== edge),
    ]
    if (weightOf(own) === 0n || weightOf(others) === 0n) continue
    const elsewhere = medianPrice(others)
    const agreeing = weightOf(others.filter(route => !isFurther(route.price as Fraction, elsewhere, factor)))
    if (agreeing * 100n < total * CONSENSUS_PERCENT) continue
    const price = medianPrice(own)
    if (!isFurther(price, elsewhere, factor)) continue
    const required = `within ${policy.imbalance_ratio}× of ${display(elsewhere)} USD elsewhere`
    refused.set(edge, { rule: 'VALUE_IMBALANCE', actual: `${display(price)} USD`, required })
  }
  return routes.filter(route => {
    const failure = refused.get(firstOf(route))
    if (failure !== undefined) failed.push({ ...route, failure })
    return failure === undefined
  })
}

const weightOf = (routes: readonly Route[]): bigint => routes.reduce((sum, route) => sum + route.weight, 0n)
const firstOf = (route: Route): Edge => route.edges[0] as Edge

function medianPrice(routes: readonly Route[]): Fraction {
  const priced = routes.map(route => ({ id: route.id, price: route.price as Fraction, weight: route.weight }))
  const at = weightedMedian(ascending(priced), index => priced[index]?.weight ?? 0n)
  return (priced[at] as Orderable).price
}

/** max(a/b, b/a) > factor, exactly. */
function isFurther(a: Fraction, b: Fraction, factor: bigint): boolean {
  const left = a.num * b.den
  const right = b.num * a.den
  return left > right * factor || right > left * factor
}

/** Whether the dearest is more than `factor` times the cheapest. */
function spansMoreThan(routes: readonly Route[], factor: bigint): boolean {
  let low: Fraction | null = null
  let high: Fraction | null = null
  let [lowNear, highNear] = [NOWHERE, NOWHERE]
  for (const { price } of routes) {
    if (price === null) continue
    const near = ratio.near(price)
    if (low === null || ratio.compareNear(price, near, low, lowNear) < 0) [low, lowNear] = [price, near]
    if (high === null || ratio.compareNear(price, near, high, highNear) > 0) [high, highNear] = [price, near]
  }
  return low !== null && high !== null && isFurther(low, high, factor)
}

const NOWHERE = asNear(Number.NaN)
