/**
 * Sources of a price (R-path-1) and what they are worth together (R-path-2): the token's own first hops that say the published
 * price, each as good as its best route.
 *
 * Law: one source more never lowers the score, whatever it is worth itself.
 */
import { assert } from '../assert.ts'
import { apart, apartNear, bpsMore } from '../exact/apart.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Policy } from '../policy/policy.ts'
import { type Count, type Near, type Score, weaker } from '../units.ts'

/** A qualified route; its price is asked for only where doubles cannot tell. */
export type Qualified = { readonly score: Score; readonly near: Near; readonly price: Fraction | null }

/** A first hop with the score of its best route. */
export type Source<First> = { readonly first: First; readonly score: Score }

/**
 * Of each first hop its best route decides: of its accepted ones where it has any, else of the `others`; of those that are
 * equally good the one nearest to the published price. That makes it a source if it lies near enough.
 */
export function sourcesOf<Route extends Qualified, First>(
  policy: Policy,
  accepted: readonly Route[],
  others: readonly Route[],
  firstOf: (route: Route) => First,
  published: Qualified,
): Source<First>[] {
  const bound = bpsMore(BigInt(policy.source_within_bps))
  const isNear = (route: Route): boolean =>
    (apartNear(route.near, published.near, bound) ||
      apart(route.price as Fraction, published.price as Fraction, bound)) <= 0
  const best = new Map<First, { score: Score; isNear: boolean }>()
  const note = (route: Route, first: First): void => {
    const { score } = route
    const known = best.get(first)
    if (known === undefined || known.score < score) best.set(first, { score, isNear: isNear(route) })
    else if (known.score === score && !known.isNear) known.isNear = isNear(route)
  }
  for (const route of accepted) note(route, firstOf(route))
  const isAccepted = new Set(best.keys())
  for (const route of others) {
    const first = firstOf(route)
    if (!isAccepted.has(first)) note(route, first)
  }
  const sources: Source<First>[] = []
  for (const [first, { score, isNear }] of best) if (isNear) sources.push({ first, score })
  return sources
}

/**
 * The best that some number k of them says: the band of k, the weakest of the k best, and less where those k are all of one
 * deployment. A single source is usable, so it is never less than the band of one.
 */
export function sourceScore<First>(
  { agreement }: Policy,
  sources: readonly Source<First>[],
  deploymentOf: (first: First) => string,
): Score {
  let best = bandOf(agreement.path_sources, 1 as Count)
  const deployments = new Set<string>()
  sources
    .toSorted((a, b) => b.score - a.score)
    .forEach(({ first, score }, at) => {
      deployments.add(deploymentOf(first))
      const ofNumber = weaker(bandOf(agreement.path_sources, (at + 1) as Count), score)
      const value = deployments.size < 2 ? weaker(ofNumber, agreement.single_deployment_cap) : ofNumber
      if (value > best) best = value
    })
  return best
}

/** The n-th entry for n sources, the last one for more; none counts as one. */
export function bandOf(bySources: readonly Score[], sources: Count): Score {
  const value = bySources[Math.min(Math.max(sources, 1), bySources.length) - 1]
  assert(value !== undefined, 'the policy scores at least one source')
  return value
}
