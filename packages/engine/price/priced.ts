/**
 * From a vote to a priced evaluation: materiality, agreement, the aggregate state, active caps, and the
 * published score as the least of them all.
 */
import type { Address } from '../chain/block.ts'
import * as ratio from '../exact/ratio.ts'
import type { Fraction, Ratio } from '../exact/ratio.ts'
import { assert } from '../assert.ts'
import { count, type Ms, ms, score, type Score, soonest, weaker } from '../units.ts'
import { pathAgreement } from './agreement.ts'
import { anchorRoutes, coverageDue } from './anchors.ts'
import { stateScore } from './bands.ts'
import type { Agreement, Edge, Priced, Route, RouteDraft, StableView } from './evaluation.ts'
import { type Moment, tipOf } from './moment.ts'
import { dueOf, lastTradeOf } from './ownHops.ts'
import { firstOf, type Vote, weightByFirst } from './observations.ts'
import type { Cap, CapCode } from './reasons.ts'
import { marginalUsdOf } from './routes.ts'

export function pricedFrom(
  moment: Moment,
  token: Address,
  { observations, dust, verdict }: Vote,
  failed: readonly Route[],
): Priced {
  const selectedObservation = observations[verdict.selected] as RouteDraft
  const accepted = observations.filter((_, at) => verdict.rejected[at] !== true)
  const rejected = observations.filter((_, at) => verdict.rejected[at] === true)
  const sources = sourcesOf(moment, accepted, verdict.keptWeight)
  for (const route of accepted) route.material = route === selectedObservation || isMaterial(route, sources)
  for (const route of rejected) route.exclusion = 'OUTLIER'
  const isAsset = moment.state.setup.routingAssets.includes(token)
  const routes = isAsset ? anchorRoutes(moment, token, accepted) : accepted
  const selected = routes[accepted.indexOf(selectedObservation)] as Route

  const agreement = pathAgreement(
    {
      sources: count(sources.size),
      deployments: count(new Set([...sources].map(edge => edge.pool.deploymentId)).size),
      spreadBps: verdict.spreadBps,
      keptWeight: verdict.keptWeight,
      totalWeight: verdict.totalWeight,
      unresolved: verdict.unresolved,
    },
    moment.policy,
  )
  const material = routes.filter(route => route.material)
  const components = {
    path_agreement: agreement,
    material_routes: {
      score: material.reduce<Score>((least, route) => weaker(least, route.score), score(10)),
      routes: count(material.length),
    },
    aggregate_state: { score: aggregateState(moment, routes) },
  }
  const caps = activeCaps(agreement, material)
  return {
    kind: 'PRICED',
    token,
    atMs: moment.atMs,
    asOf: tipOf(moment),
    price: reduced(selected.price as Fraction),
    marginalUsd: isAsset ? reduced(marginalUsdOf(selected)) : marginalUsdOf(selected),
    score: publishedScore(
      [components.path_agreement.score, components.material_routes.score, components.aggregate_state.score],
      caps,
    ),
    caps,
    components,
    support: {
      low: (observations[verdict.low] as Route).price as Fraction,
      high: (observations[verdict.high] as Route).price as Fraction,
      accepted: count(routes.length),
      rejected: count(rejected.length),
      retainedBps: agreement.retainedBps,
      tauBps: verdict.tauBps,
      madBps: verdict.madBps,
    },
    selected,
    routes: [...routes, ...rejected, ...dust, ...failed],
    stable: selected.stable as StableView,
    expiresAtMs: expiryOf(routes),
    dueMs: isAsset ? soonest(dueOf(moment, token), coverageDue(moment, token)) : dueOf(moment, token),
    lastTradeMs: lastTradeOf(moment, token),
  }
}

/** The value is known to fit: routes past 4096 bits never voted. */
export function reduced(price: Fraction): Ratio {
  const outcome = ratio.reduce(price.num, price.den)
  assert(!ratio.isTooLarge(outcome), 'a route past 4096 bits took part in a vote')
  return outcome
}

/** The token's own first hops with at least a tenth of the accepted weight. */
function sourcesOf(moment: Moment, accepted: readonly Route[], keptWeight: bigint): Set<Edge> {
  const needed = keptWeight * BigInt(moment.policy.source_share_bps)
  const sources = new Set<Edge>()
  for (const [edge, weight] of weightByFirst(accepted)) if (weight * 10_000n >= needed) sources.add(edge)
  return sources
}

const isMaterial = (route: Route, sources: ReadonlySet<Edge>): boolean =>
  sources.has(firstOf(route)) && (route.via === null || route.via.route.material)

/** The least of the feed and of every pool, decimals reading and stable answer an accepted route used. */
function aggregateState(moment: Moment, accepted: readonly Route[]): Score {
  let least = moment.feed.score
  for (const route of accepted) {
    for (const edge of route.edges) least = weaker(least, edge.settled)
    if (route.stable !== null) least = weaker(least, stateScore(route.stable.finality))
  }
  return least
}

/** Every cap in force on something the published score is a minimum of, the lowest of each code. */
function activeCaps(agreement: Agreement, material: readonly Route[]): Cap[] {
  const lowest = new Map<CapCode, Score>()
  const note = (caps: readonly Cap[]) => {
    for (const { code, cap } of caps) lowest.set(code, weaker(cap, lowest.get(code) ?? cap))
  }
  note(agreement.caps)
  for (const route of material) {
    for (const edge of route.edges) note(edge.caps)
    if (route.via !== null && route.via.asset.evaluation.kind === 'PRICED')
      note(route.via.asset.evaluation.caps)
  }
  return [...lowest].map(([code, cap]) => ({ code, cap })).sort((a, b) => (a.code < b.code ? -1 : 1))
}

export function publishedScore(components: readonly Score[], caps: readonly Cap[]): Score {
  let least = score(10)
  for (const each of components) least = weaker(least, each)
  for (const { cap } of caps) least = weaker(least, cap)
  return least
}

/** The price lives as long as its longest-lived route, and a route as long as its first hop to expire. */
function expiryOf(accepted: readonly Route[]): Ms {
  let latest = ms(0)
  for (const route of accepted) {
    let earliest = firstOf(route).expiresAtMs
    for (const edge of route.edges) if (edge.expiresAtMs < earliest) earliest = edge.expiresAtMs
    if (earliest > latest) latest = earliest
  }
  return latest
}
