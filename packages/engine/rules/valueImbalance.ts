/**
 * VALUE_IMBALANCE: both tokens of a pool are priced elsewhere, and its own ratio is more than ten times away from
 * that. Such a pool is deep, self-consistent and wrong.
 *
 * "Elsewhere" must itself be a consensus: other first hops that agree with one another must carry the share that a
 * rejection of outliers requires. Two equal halves that disagree remain an unresolved split.
 */
import { apart, type Bound, times } from '../exact/apart.ts'
import { display } from '../exact/decimal.ts'
import type { Fraction } from '../exact/fraction.ts'
import { asApprox, type Count, type Approx } from '../units.ts'
import type { Edge, Route, RouteDraft } from '../price/evaluation.ts'
import type { Policy } from '../policy/policy.ts'
import type { Failure } from './reasons.ts'
import { ascending, type Orderable, weightedMedian } from './weightedMedian.ts'

const CONSENSUS_PERCENT = 67n

export function rejectImbalanced<Candidate extends RouteDraft>(
  policy: Policy,
  routes: readonly Candidate[],
  failed: Route[],
): readonly Candidate[] {
  const far = times(BigInt(policy.imbalance_ratio))
  const isOneSource = routes.every(({ first }) => first === routes[0]?.first)
  if (isOneSource || !spansMoreThan(routes, far)) return routes
  const refused = new Map<Edge, Failure>()
  const total = weightOf(routes)
  for (const edge of new Set(routes.map(firstOf))) {
    const [own, others] = [
      routes.filter(route => firstOf(route) === edge),
      routes.filter(route => firstOf(route) !== edge),
    ]
    if (weightOf(own) === 0n || weightOf(others) === 0n) continue
    const elsewhere = medianPrice(others)
    const agreeing = weightOf(others.filter(route => apart(route.price as Fraction, elsewhere, far) <= 0))
    if (agreeing * 100n < total * CONSENSUS_PERCENT) continue
    const price = medianPrice(own)
    if (apart(price, elsewhere, far) <= 0) continue
    const required = `within ${policy.imbalance_ratio}× of ${display(elsewhere)} USD elsewhere`
    refused.set(edge, { rule: 'VALUE_IMBALANCE', actual: `${display(price)} USD`, required })
  }
  return routes.filter(route => {
    const failure = refused.get(firstOf(route))
    if (failure === undefined) return true
    route.failure = failure
    failed.push(route)
    return false
  })
}

const weightOf = (routes: readonly Route[]): bigint => routes.reduce((sum, route) => sum + route.weight, 0n)
const firstOf = ({ first }: Route): Edge => first

function medianPrice(routes: readonly Route[]): Fraction {
  const priced = routes as readonly (Route & Orderable)[]
  const at = weightedMedian(ascending(priced), index => priced[index]?.weight ?? 0n)
  return (priced[at] as Orderable).price
}

/** Whether the highest price is more than `far` times the lowest. */
function spansMoreThan(routes: readonly Route[], far: Bound): boolean {
  let least: Approx = (routes[0] as Route).approx
  let most = least
  for (const { approx } of routes) {
    least = asApprox(Math.min(least, approx))
    most = asApprox(Math.max(most, approx))
  }
  // Well inside the bound no exact price is needed. A double that cannot decide compares as unordered.
  if (most / least < far.approx / 2) return false
  const order = ascending(routes as readonly (Route & Orderable)[])
  const priceAt = (at: Count | undefined) => routes[at as Count]?.price as Fraction
  return apart(priceAt(order[0]), priceAt(order.at(-1)), far) > 0
}
