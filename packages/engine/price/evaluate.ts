/**
 * The price of a token at one moment: its routes weighted, the dust removed, outliers rejected in one pass, and the
 * exact rational of the weighted-median route (R-consensus-5), or the reason why there is none.
 *
 * The evaluation is pure in the state and the time: it writes nothing and is allowed at any moment.
 */
import type { Address } from '../chain/block.ts'
import { bitsOf } from '../exact/bits.ts'
import * as fraction from '../exact/fraction.ts'
import * as ratio from '../exact/ratio.ts'
import type { Fraction } from '../exact/fraction.ts'
import { stateScore } from '../rules/feedAndState.ts'
import { settledRoute } from './routes/candidate.ts'
import type { Evaluation, Onward, Priced, Route, StableView, Unpriced, Valuation } from './evaluation.ts'
import { FailedRoutes } from './routes/failedRoutes.ts'
import { type Moment, tipOf } from './moment.ts'
import { vote } from './vote/observations.ts'
import { OwnHops } from './hops/ownHops.ts'
import { pricedFrom } from './score/priced.ts'
import { sellabilityOf } from './score/sellabilityOf.ts'
import { settledAlong } from '../rules/aggregateState.ts'
import { expiryAlong } from '../rules/expiry.ts'
import { publishedScore } from '../rules/publishedScore.ts'
import type { UnpricedReason } from '../rules/reasons.ts'
import { score, weaker } from '../units.ts'
import { byWeight, routesOf } from './routes/routes.ts'

export function evaluate(moment: Moment, token: Address): Evaluation {
  const own = new OwnHops(moment, token)
  const blocked = blockedBy(moment, token)
  if (blocked !== null) {
    const candidates = blocked === 'DECIMALS' ? new FailedRoutes(moment, [], own).nearest : []
    return unpriced(moment, token, own, blocked, candidates)
  }
  const stable = moment.stable(token)
  if (stable !== null) return ofStable(moment, stable, own)
  const { live, failed: found } = routesOf(moment, own.live)
  const voted = vote(moment, live, found)
  const failed = new FailedRoutes(moment, found, own)
  if (voted === null)
    return unpriced(moment, token, own, reasonFor(moment, own, failed.nearest), failed.nearest)
  const priced = pricedFrom(moment, token, own, voted, failed)
  if (priced.score > 0) return priced
  return unpriced(moment, token, own, 'NO_ROUTE', [...priced.routes, ...failed.nearest].map(worthless))
}

/** A price that nobody may use is no price: a policy can lower a score to 0. */
const worthless = (route: Route): Route => ({
  ...settledRoute(route),
  failure: route.failure ?? { rule: 'SCORE_ZERO', actual: '0', required: 'a score of at least 1' },
})

/** Values every routing asset in its listed order, so that each continues only along those before it. */
export function valueAssets(moment: Moment): void {
  for (const asset of moment.state.setup.routingAssets) {
    const evaluation = evaluate(moment, asset)
    const onward: Onward[] = []
    const valuation: Valuation = { asset, evaluation, onward }
    for (const route of continuations(moment, evaluation)) onward.push(onwardOf(valuation, route))
    moment.valuations.set(asset, valuation)
  }
}

/** The accepted routes of an asset that others may continue along, heaviest first, with prices reduced once. */
function continuations(moment: Moment, evaluation: Evaluation): Route[] {
  if (evaluation.kind === 'UNPRICED') return []
  return evaluation.routes
    .filter(route => route.exclusion === null)
    .sort(byWeight)
    .slice(0, moment.policy.max_asset_routes)
    .map(route => {
      const price = ratio.reduced(route.price as Fraction)
      return { ...settledRoute(route), price, approx: fraction.approx(price) }
    })
}

const NONE = { nearest: [] }

/** The combined result of all hops from here on, computed once for every route that continues from here. */
function onwardOf(asset: Valuation, route: Route): Onward {
  const { evaluation } = asset
  return {
    asset,
    route,
    bits: bitsOf(route.price as Fraction),
    score: evaluation.kind === 'PRICED' ? weaker(route.score, evaluation.score) : score(0),
    settled: settledAlong(route),
    expiresAtMs: expiryAlong(route),
    isClimbing: route.edges.some(edge => edge.isClimbing),
    caps: [
      ...route.edges.flatMap(edge => edge.caps),
      ...(evaluation.kind === 'PRICED' ? evaluation.caps : []),
    ],
  }
}

/** The reason that prevents any price of this token before its routes are evaluated. */
function blockedBy(moment: Moment, token: Address): UnpricedReason | null {
  const known = moment.state.tokens.get(token)
  if (known !== undefined && known.dormant !== null) return known.dormant
  if (moment.state.chain.paused) return 'OPERATOR'
  if (moment.feed.score === 0) return 'FEED'
  if (moment.stable(token) !== null) return null
  const decimals = known?.decimals ?? null
  return decimals !== null && (decimals.value === null || decimals.changedTo !== null) ? 'DECIMALS' : null
}

/** The reason for the missing price, taken from the candidate closest to a price. */
function reasonFor(moment: Moment, own: OwnHops, failed: readonly Route[]): UnpricedReason {
  if (own.isEmpty) return 'NO_POOL'
  const rules = new Set(failed.map(route => route.failure?.rule))
  if (rules.has('EXPIRED') || failed.some(route => isAnchorExpired(moment, route))) return 'ROUTE_EXPIRED'
  if (rules.has('STABLE_SUSPENDED')) return 'STABLE_SUSPENDED'
  if (rules.has('ANCHOR_UNPRICED')) return 'ANCHOR_UNPRICED'
  if (rules.has('DECIMALS_CHANGED') || rules.has('DECIMALS_UNVERIFIED')) return 'DECIMALS'
  return 'NO_ROUTE'
}

/** The hop is good, but the anchor behind it has expired. */
function isAnchorExpired(moment: Moment, route: Route): boolean {
  const evaluation = moment.valuations.get(route.first.pool.to)?.evaluation
  return (
    route.failure?.rule === 'ANCHOR_UNPRICED' &&
    evaluation?.kind === 'UNPRICED' &&
    evaluation.reason === 'ROUTE_EXPIRED'
  )
}

function unpriced(
  moment: Moment,
  token: Address,
  own: OwnHops,
  reason: UnpricedReason,
  failed: readonly Route[],
): Unpriced {
  return {
    kind: 'UNPRICED',
    token,
    atMs: moment.atMs,
    asOf: tipOf(moment),
    reason,
    routes: failed,
    elsewhere: moment.state.tokens.get(token)?.elsewhere ?? [],
    sellability: sellabilityOf(moment, token),
    dueMs: own.dueMs,
    own,
  }
}

/** A stable's own quote is its guarded answer: no routes, score min(stable, feed, state). */
function ofStable(moment: Moment, stable: StableView, own: OwnHops): Priced | Unpriced {
  const published = publishedScore(
    [stable.score, moment.feed.score, stateScore(stable.finality)],
    stable.caps,
  )
  if (stable.status === 'SUSPENDED' || published === 0)
    return { ...unpriced(moment, stable.token, own, 'STABLE_SUSPENDED', []), dueMs: stable.dueMs }
  const usd = ratio.reduced(stable.usd)
  const components = {
    stable: { score: stable.score },
    feed: { score: moment.feed.score },
    state: { score: stateScore(stable.finality) },
  }
  return {
    kind: 'PRICED',
    token: stable.token,
    atMs: moment.atMs,
    asOf: tipOf(moment),
    price: usd,
    marginalUsd: usd,
    score: published,
    caps: stable.caps,
    components,
    support: null,
    ownPast: null,
    sellability: null,
    selected: null,
    routes: [],
    failed: NONE,
    stable,
    usdFeed: undefined,
    expiresAtMs: null,
    dueMs: stable.dueMs,
    own: { lastTradeMs: null, isAged: own.isAged },
  }
}
