/**
 * A quote recomputed from what it shows, by a reader who knows the default policy and the tokens' decimals
 * and without the engine: hops, routes, weights, the vote, and every score as the least of its parts.
 */
import { assert } from '../assert.ts'
import type { Address, Hex } from '../chain/block.ts'
import type { ExactText } from '../exact/decimal.ts'
import { compare, devBps, hopRatio, least, reduced, times } from './byHand.ts'
import {
  assetQuote,
  effective,
  first,
  median,
  type PricedView,
  priceOf,
  same,
  sum,
  valueOf,
  weight,
} from './quoteParts.ts'
import type { CapText, Component, HopView, QuoteView, RouteView } from './quoteView.ts'
import { checkScore } from './scoreLaws.ts'

/** Asserts every law of the quote and of the routing assets it went through. */
export function checkQuote(quote: QuoteView, decimalsOf: (token: Address) => number): void {
  if (quote.state === 'UNPRICED') {
    for (const { route_id, rule } of quote.candidates ?? [])
      assert(typeof rule === 'string', `candidate ${route_id} names no rule`)
    return
  }
  for (const asset of quote.routing_assets ?? []) checkQuote(asset, decimalsOf)
  isExact(quote.price_usd)
  const { components, caps, score } = quote.confidence
  isLeast(score, Object.values(components), caps, 'the published score')
  assert(score > 0, 'a PRICED state has score 0')
  const routes = quote.routes ?? []
  for (const hop of routes.flatMap(route => route.hops)) checkHop(hop, decimalsOf)
  if (routes.length === 0) return
  const live = routes.filter(route => route.failure === undefined)
  for (const route of live) checkRoute(route, quote)
  checkWeights(live)
  checkVote(quote, live)
}

function checkHop(hop: HopView, decimalsOf: (token: Address) => number): void {
  const isScaled = hop.from_decimals !== null && hop.to_decimals !== null
  assert(
    !isScaled || (hop.from_decimals === decimalsOf(hop.from) && hop.to_decimals === decimalsOf(hop.to)),
    `decimals of ${hop.pool_id}`,
  )
  if (hop.ratio !== null && hop.evidence !== null) {
    const ratio = hopRatio(
      BigInt(hop.evidence.amount_out),
      BigInt(hop.evidence.amount_in),
      decimalsOf(hop.from),
      decimalsOf(hop.to),
    )
    same(valueOf(hop.ratio), ratio, `ratio of ${hop.pool_id}`)
  }
  if (hop.failure === undefined)
    isLeast(hop.score, Object.values(hop.components), hop.caps, `hop ${hop.pool_id}`)
  else assert(hop.score === 0, () => `hop ${hop.pool_id} failed ${hop.failure?.rule} with score ${hop.score}`)
  const { depth, freshness, feed, state } = hop.components
  if (hop.depth !== null) {
    const derived = hop.depth
    assert(depth?.score === depthBand(BigInt(derived.effective_microusd)), `depth score of ${hop.pool_id}`)
    const current = least(BigInt(derived.up_microusd), BigInt(derived.down_microusd))
    assert(BigInt(derived.current_microusd) === current, `L of ${hop.pool_id} is not min(D_up, D_down)`)
    assert(
      BigInt(derived.effective_microusd) === least(current, BigInt(derived.ewma_microusd)),
      `L_eff of ${hop.pool_id}`,
    )
  }
  assert(
    freshness?.score === freshnessBand(Number(freshness?.['age_ms']), Number(freshness?.['ttl_ms'])),
    `freshness of ${hop.pool_id}`,
  )
  assert(feed?.score === FEED[String(feed?.['status'])], `feed of ${hop.pool_id}`)
  assert(state?.score === STATE[String(state?.['finality'])], `state of ${hop.pool_id}`)
}

function checkRoute(route: RouteView, quote: PricedView): void {
  const { hops, stable } = route
  assert(route.route_id === hops.map(hop => hop.pool_id).join('-'), `id of ${route.route_id}`)
  assert(
    new Set(hops.map(hop => hop.pool_id)).size === hops.length,
    `a pool appears twice in ${route.route_id}`,
  )
  hops.forEach((hop, at) =>
    assert(at === 0 || hops[at - 1]?.to === hop.from, `${route.route_id} does not connect`),
  )
  assert(
    stable !== null && hops.at(-1)?.to === stable.token_address,
    `${route.route_id} does not end in its stable`,
  )
  assert(hops[0]?.from === quote.token, `${route.route_id} does not start with the token`)
  const price = times(...hops.map(hop => valueOf(hop.ratio as ExactText)), valueOf(stable.usd))
  same(valueOf(route.price_usd as ExactText), price, `price of ${route.route_id}`)
  const capacity = hops.map(effective).reduce(least)
  assert(BigInt(route.capacity_microusd) === capacity, `capacity of ${route.route_id}`)
  const assets = hops.slice(1).map(hop => assetQuote(quote, hop.from)?.confidence.score as number)
  const score = Math.min(...hops.map(hop => hop.score), ...assets)
  isLeast(route.score, Object.values(route.components), route.caps, `route ${route.route_id}`)
  assert(
    route.score === score && score > 0,
    () => `score of ${route.route_id} is ${route.score}, of its parts ${score}`,
  )
}

/** b_r, B_e and w_r over physical pools. */
function checkWeights(live: readonly RouteView[]): void {
  const load = new Map<Hex, bigint>()
  const used = new Map<Hex, bigint>()
  for (const { hops, capacity_microusd, weight_microusd } of live)
    for (const { pool_id } of hops) {
      load.set(pool_id, (load.get(pool_id) ?? 0n) + BigInt(capacity_microusd))
      used.set(pool_id, (used.get(pool_id) ?? 0n) + BigInt(weight_microusd))
    }
  for (const route of live) {
    const claimed = BigInt(route.capacity_microusd)
    const shares = route.hops.map(hop => {
      const wanted = load.get(hop.pool_id) as bigint
      return wanted <= effective(hop) ? claimed : (claimed * effective(hop)) / wanted
    })
    assert(BigInt(route.weight_microusd) === shares.reduce(least), `weight of ${route.route_id}`)
    for (const hop of route.hops)
      assert(
        (used.get(hop.pool_id) as bigint) <= effective(hop),
        `pool ${hop.pool_id} is used beyond its capacity`,
      )
  }
}

function checkVote(quote: PricedView, live: readonly RouteView[]): void {
  const byPool = new Map<Hex, bigint>()
  for (const route of live)
    byPool.set(first(route).pool_id, (byPool.get(first(route).pool_id) ?? 0n) + weight(route))
  const all = sum(live.map(weight))
  const floor = floorBps([...byPool.values()], all)
  const reaches = (part: bigint, whole: bigint) => part > 0n && part * 10_000n >= whole * floor
  const ownOf = (route: RouteView) => byPool.get(first(route).pool_id) as bigint
  const isLarge = (route: RouteView) => route.hops.length === 1 || reaches(weight(route), ownOf(route))
  const isHeard = (route: RouteView) =>
    reaches(ownOf(route), all) &&
    (isLarge(route) || !live.some(each => first(each).pool_id === first(route).pool_id && isLarge(each)))
  for (const route of live)
    assert(isHeard(route) === (route.reason !== 'IMMATERIAL'), `${route.route_id} is ${route.reason}`)

  const observations = live
    .filter(isHeard)
    .sort((a, b) => compare(priceOf(a), priceOf(b)) || (a.route_id < b.route_id ? -1 : 1))
  const m0 = priceOf(median(observations, weight))
  const deviations = observations
    .map(route => ({ deviation: devBps(priceOf(route), m0), capacity: BigInt(route.capacity_microusd) }))
    .sort((a, b) => compare(a.deviation, b.deviation))
  const { deviation: mad } = median(deviations, each => each.capacity)
  const scaled = (22_239n * mad.num + 5_000n * mad.den - 1n) / (5_000n * mad.den)
  const tau = scaled < 200n ? 200n : scaled > 1000n ? 1000n : scaled
  const inliers = observations.filter(
    route => devBps(priceOf(route), m0).num <= tau * devBps(priceOf(route), m0).den,
  )
  const total = sum(observations.map(weight))
  const isSplit = inliers.length < observations.length
  const isResolved =
    sum(inliers.map(weight)) * 100n >= all * 67n &&
    new Set(inliers.map(route => first(route).pool_id)).size >= 2 &&
    new Set(inliers.map(route => first(route).deployment_id)).size >= 2
  const accepted = isSplit && isResolved ? inliers : observations
  const kept = sum(accepted.map(weight))
  for (const route of observations)
    assert(
      route.accepted === accepted.includes(route) && route.accepted === (route.reason === null),
      `${route.route_id} is ${route.reason}`,
    )

  const selected = median(accepted, weight)
  assert(
    selected.selected && live.filter(route => route.selected).length === 1,
    'the selected route is not the weighted median',
  )
  same(valueOf(quote.price_usd), priceOf(selected), 'the published price')
  assert(
    quote.selected?.route_id === selected.route_id &&
      quote.selected.weight_microusd === selected.weight_microusd,
    'selected',
  )
  const { support } = quote
  assert(
    support !== null &&
      support.accepted === accepted.length &&
      support.rejected === observations.length - accepted.length,
    'support counts',
  )
  assert(support.tau_bps === tau.toString(), () => `tau is ${support.tau_bps}, not ${tau}`)
  assert(support.retained_weight_bps === Number((kept * 10_000n) / total), 'retained weight')
  same(valueOf(support.low), priceOf(accepted[0] as RouteView), 'support low')
  same(valueOf(support.high), priceOf(accepted.at(-1) as RouteView), 'support high')
  checkScore(quote, live, accepted, selected, m0, isSplit && !isResolved, kept, total)
}

/** The greatest of 10, 5, 2 and 0 per cent at which the pools that reach it carry 90 of all. */
function floorBps(weights: readonly bigint[], all: bigint): bigint {
  const floor = [1000n, 500n, 200n].find(
    bps => sum(weights.filter(each => each * 10_000n >= all * bps)) * 10n >= all * 9n,
  )
  return floor ?? 0n
}

function isExact({ numerator, denominator }: ExactText): void {
  const [num, den] = [BigInt(numerator), BigInt(denominator)]
  const { num: least } = reduced(num, den)
  assert(num > 0n && den > 0n && least === num, `${numerator}/${denominator} is not positive and reduced`)
}

function isLeast(
  score: number,
  components: readonly Component[],
  caps: readonly CapText[],
  what: string,
): void {
  const expected = Math.min(
    10,
    ...components.map(component => component.score),
    ...caps.map(({ cap }) => cap),
  )
  assert(score === expected, () => `${what} is ${score}, the least of its parts ${expected}`)
}

const FEED: Readonly<Record<string, number>> = { HEALTHY: 10, DEGRADED: 3, GAP: 0, UNAVAILABLE: 0 }
const STATE: Readonly<Record<string, number>> = { unverified: 0, canonical: 8, finalized: 10 }

function depthBand(microusd: bigint): number {
  if (microusd === 0n) return 0
  const bounds = [500n, 1_000n, 2_500n, 5_000n, 10_000n, 25_000n, 50_000n, 100_000n, 250_000n]
  return 1 + bounds.filter(usd => microusd >= usd * 1_000_000n).length
}

function freshnessBand(ageMs: number, ttlMs: number): number {
  if (ageMs >= ttlMs) return 0
  const share = [0.1, 0.2, 0.4, 0.6, 0.8].findIndex(bound => ageMs <= ttlMs * bound)
  return share < 0 ? 5 : 10 - share
}
