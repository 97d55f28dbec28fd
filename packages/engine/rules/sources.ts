/**
 * Sources of a price (R-path-1) and their combined score (R-path-2): the token's own first hops that support the
 * published price, each scored by its best route.
 *
 * Law: an additional source never lowers the score, whatever its own score is.
 */
import { assert } from '../assert.ts'
import { apart, apartApprox, bpsMore } from '../exact/apart.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Policy } from '../policy/policy.ts'
import { type Count, type Approx, type Score, weaker } from '../units.ts'

/** A qualified route. Its exact price is computed only when doubles cannot decide. */
export type Qualified = { readonly score: Score; readonly approx: Approx; readonly price: Fraction | null }

/** A first hop with the score of its best route. */
export type Source<First> = { readonly first: First; readonly score: Score }

/**
 * The best route of each first hop decides: the best accepted one if the hop has any, otherwise the best of the
 * `others`; among equals, the one closest to the published price. The hop is a source if that route is close enough
 * to the published price.
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
    (apartApprox(route.approx, published.approx, bound) ||
      apart(route.price as Fraction, published.price as Fraction, bound)) <= 0
  const best = new Map<First, { score: Score; isNear: boolean }>()
  const note = (route: Route, first: First): void => {
    const { score } = route
    const known = best.get(first)
    if (known === undefined || known.score < score) best.set(first, { score, isNear: isNear(route) })
    else if (known.score === score && !known.isNear) known.isNear = isNear(route)
  }
  for (const route of accepted) note(route, firstOf(route))
  if (others.length > 0) {
    const isAccepted = new Set(best.keys())
    for (const route of others) {
      const first = firstOf(route)
      if (!isAccepted.has(first)) note(route, first)
    }
  }
  const sources: Source<First>[] = []
  for (const [first, { score, isNear }] of best) if (isNear) sources.push({ first, score })
  return sources
}

/**
 * The maximum over k of: the band of k, limited by the weakest of the k best sources, and lower when those k all
 * belong to one deployment. A single source is usable, so the result is never below the band of one.
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

/** Entry n for n sources, the last entry for more, and the first for none. */
export function bandOf(bySources: readonly Score[], sources: Count): Score {
  const value = bySources[Math.min(Math.max(sources, 1), bySources.length) - 1]
  assert(value !== undefined, 'the policy scores at least one source')
  return value
}
