/**
 * VALUE_IMBALANCE: a pool whose both sides are priced elsewhere and whose own ratio is more than ten times
 * away from that. Such a pool is deep, self-consistent and wrong.
 *
 * "Elsewhere" must itself be a consensus: the token's other first hops have to carry the share that a
 * rejection of outliers needs. Two equal halves that disagree stay an unresolved split.
 */
import * as ratio from '../exact/ratio.ts'
import type { Fraction } from '../exact/ratio.ts'
import type { Edge, Route } from './evaluation.ts'
import type { Policy } from './policy.ts'
import { ascending, type Orderable, weightedMedian } from './weightedMedian.ts'

const CONSENSUS_PERCENT = 67n

export function rejectImbalanced(
  policy: Policy,
  routes: readonly Route[],
  failed: Route[],
): readonly Route[] {
  if (!spansMoreThan(routes, BigInt(policy.imbalance_ratio))) return routes
  const refused = new Set<Edge>()
  let total = 0n
  for (const route of routes) total += route.weight
  for (const edge of new Set(routes.map(firstOf))) {
    const others = routes.filter(route => firstOf(route) !== edge)
    const weight = others.reduce((sum, route) => sum + route.weight, 0n)
    if (weight === 0n || weight === total || weight * 100n < total * CONSENSUS_PERCENT) continue
    const elsewhere = medianPrice(others)
    const own = medianPrice(routes.filter(route => firstOf(route) === edge))
    if (isFurther(own, elsewhere, BigInt(policy.imbalance_ratio))) refused.add(edge)
  }
  if (refused.size === 0) return routes
  return routes.filter(route => {
    if (!refused.has(firstOf(route))) return true
    failed.push({
      ...route,
      failure: {
        rule: 'VALUE_IMBALANCE',
        actual: null,
        required: `within ${policy.imbalance_ratio}× of the price elsewhere`,
      },
    })
    return false
  })
}

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

function spansMoreThan(routes: readonly Route[], factor: bigint): boolean {
  let low: Fraction | null = null
  let high: Fraction | null = null
  for (const { price } of routes) {
    if (price === null) continue
    if (low === null || ratio.compare(price, low) < 0) low = price
    if (high === null || ratio.compare(price, high) > 0) high = price
  }
  return low !== null && high !== null && isFurther(low, high, factor)
}
