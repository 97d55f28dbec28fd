/**
 * From a vote to a priced evaluation: materiality, agreement, the aggregate state, active caps, and the
 * published score as the least of them all.
 */
import type { Address } from '../../chain/block.ts'
import * as ratio from '../../exact/ratio.ts'
import type { Fraction, Ratio } from '../../exact/ratio.ts'
import { type Count, count, type Ms, ms, score, type Score, soonest, weaker } from '../../units.ts'
import { pathAgreement } from '../../rules/agreement.ts'
import { anchorRoutes } from '../hops/anchors.ts'
import { stateScore } from '../../rules/feedAndState.ts'
import type { Candidate } from '../routes/candidate.ts'
import type { Agreement, Edge, Priced, Route, StableView } from '../evaluation.ts'
import type { FailedRoutes } from '../routes/failedRoutes.ts'
import { type Moment, tipOf } from '../moment.ts'
import type { OwnHops } from '../hops/ownHops.ts'
import { type Vote, weightByFirst } from '../vote/observations.ts'
import { CLIMBING_MS } from '../../rules/hopCapacity.ts'
import type { Cap, CapCode } from '../../rules/reasons.ts'
import { earlier, FOREVER } from '../../rules/timed.ts'
import { marginalUsdOf } from '../routes/routes.ts'

export function pricedFrom(
  moment: Moment,
  token: Address,
  own: OwnHops,
  { observations, dust, verdict, claimed, byFirst }: Vote,
  failed: FailedRoutes,
): Priced {
  const selectedObservation = observations[verdict.selected] as Candidate
  const isUnanimous = verdict.survivors.length === observations.length
  const accepted = isUnanimous ? observations : observations.filter((_, at) => verdict.rejected[at] !== true)
  const rejected = isUnanimous ? [] : observations.filter((_, at) => verdict.rejected[at] === true)
  const isWhole = isUnanimous && dust.length === 0
  const sources = sourcesOf(moment, isWhole ? byFirst : weightByFirst(accepted), verdict.keptWeight)
  for (const route of accepted) route.material = route === selectedObservation || isMaterial(route, sources)
  for (const route of rejected) route.exclusion = 'OUTLIER'
  const isAsset = moment.state.setup.routingAssets.includes(token)
  const covered = isAsset ? anchorRoutes(moment, token, accepted) : { value: accepted, untilMs: FOREVER }
  const routes: readonly Route[] = covered.value
  const selected = routes[accepted.indexOf(selectedObservation)] as Route

  const agreement = pathAgreement(
    {
      sources: count(sources.size),
      deployments: deploymentsOf(sources),
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
  const untilMs = earlier(covered.untilMs, claimsUntil(moment, [...observations, ...dust], claimed))
  // To reduce a price takes as long as to find its route, and of many it is never asked.
  let price: Ratio | null = null
  let marginalUsd: Fraction | null = null
  return {
    kind: 'PRICED',
    token,
    atMs: moment.atMs,
    asOf: tipOf(moment),
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
    routes: isWhole ? routes : [...routes, ...rejected, ...dust],
    failed,
    stable: selected.stable as StableView,
    expiresAtMs: expiryOf(routes),
    dueMs: untilMs === FOREVER ? own.dueMs : soonest(own.dueMs, untilMs),
    own,
    get price() {
      price ??= ratio.reduced(selected.price as Fraction)
      return price
    },
    get marginalUsd() {
      // That of an asset is kept and compared again and again.
      marginalUsd ??= isAsset ? ratio.reduced(marginalUsdOf(selected)) : marginalUsdOf(selected)
      return marginalUsd
    },
  }
}

/**
 * Until when the routes weigh the same though depth behind their first hops still climbs. Only depth that all that is
 * claimed would not fit through has a say in their weights.
 */
function claimsUntil({ atMs }: Moment, routes: readonly Route[], claimed: bigint): Ms {
  const isBinding = routes.some(({ via }) => via?.isClimbing && via.route.capacity <= claimed)
  return isBinding ? ms(atMs + CLIMBING_MS) : FOREVER
}

/** The token's own first hops with at least a tenth of the accepted weight. */
function sourcesOf(moment: Moment, accepted: ReadonlyMap<Edge, bigint>, keptWeight: bigint): Set<Edge> {
  const needed = keptWeight * BigInt(moment.policy.source_share_bps)
  const sources = new Set<Edge>()
  for (const [edge, weight] of accepted) if (weight * 10_000n >= needed) sources.add(edge)
  return sources
}

function deploymentsOf(sources: ReadonlySet<Edge>): Count {
  const ids = new Set<string>()
  for (const { pool } of sources) ids.add(pool.deploymentId)
  return count(ids.size)
}

const isMaterial = (route: Route, sources: ReadonlySet<Edge>): boolean =>
  sources.has(route.first) && (route.via === null || route.via.route.material)

/** The least of the feed and of every pool, decimals reading and stable answer an accepted route used. */
function aggregateState(moment: Moment, accepted: readonly Route[]): Score {
  let least = moment.feed.score
  let last: Edge | null = null
  for (const route of accepted) {
    if (route.first !== last) least = weaker(least, route.first.settled)
    last = route.first
    if (route.via !== null) least = weaker(least, route.via.settled)
    else if (route.stable !== null) least = weaker(least, stateScore(route.stable.finality))
  }
  return least
}

/** The least state score of every hop of a route and of the stable it ends in. */
export function settledAlong({ edges, stable }: Route): Score {
  const ofStable = stable === null ? score(10) : stateScore(stable.finality)
  return edges.reduce<Score>((least, edge) => weaker(least, edge.settled), ofStable)
}

/** Every cap in force on something the published score is a minimum of, the lowest of each code. */
function activeCaps(agreement: Agreement, material: readonly Route[]): Cap[] {
  const lowest = new Map<CapCode, Score>()
  const note = (caps: readonly Cap[]) => {
    for (const { code, cap } of caps) lowest.set(code, weaker(cap, lowest.get(code) ?? cap))
  }
  note(agreement.caps)
  let last: Edge | null = null
  for (const { first, via } of material) {
    // Routes of one first hop stand side by side.
    if (first !== last) note(first.caps)
    last = first
    if (via !== null) note(via.caps)
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
    const { first, via } = route
    const earliest = via !== null && via.expiresAtMs < first.expiresAtMs ? via.expiresAtMs : first.expiresAtMs
    if (earliest > latest) latest = earliest
  }
  return latest
}

/** When the first hop of a route expires. */
export const expiryAlong = ({ edges }: Route): Ms => ms(Math.min(...edges.map(edge => edge.expiresAtMs)))
