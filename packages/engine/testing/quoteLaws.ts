/**
 * A quote recomputed from what it shows, by a reader who knows the default policy and the tokens' decimals
 * and nothing of the engine: hops, routes, weights, the vote, and every score as the least of its parts.
 */
import { assert } from '../assert.ts'
import type { Address, Hex } from '../chain/block.ts'
import type { ExactText } from '../exact/decimal.ts'
import { compare, devBps, hopRatio, least, type Rational, reduced, times } from './byHand.ts'
import type { CapText, Component, HopView, QuoteView, RouteView } from './quoteView.ts'

type PricedView = Extract<QuoteView, { state: 'PRICED' }>

const valueOf = ({ numerator, denominator }: ExactText): Rational => ({
  num: BigInt(numerator),
  den: BigInt(denominator),
})

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
    const figures = hop.depth
    assert(depth?.score === depthBand(BigInt(figures.effective_microusd)), `depth score of ${hop.pool_id}`)
    const current = least(BigInt(figures.up_microusd), BigInt(figures.down_microusd))
    assert(BigInt(figures.current_microusd) === current, `L of ${hop.pool_id} is not min(D_up, D_down)`)
    assert(
      BigInt(figures.effective_microusd) === least(current, BigInt(figures.ewma_microusd)),
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

/** The first hops that say the published price by the best of their routes, and how good that is, best first. */
function sourcesOf(live: readonly RouteView[], accepted: readonly RouteView[], price: Rational) {
  const pools = [...new Set(live.map(route => first(route).pool_id))]
  return pools
    .flatMap(pool => {
      const own = (routes: readonly RouteView[]) => routes.filter(route => first(route).pool_id === pool)
      const counted = own(accepted).length > 0 ? own(accepted) : own(live)
      const best = Math.max(...counted.map(route => route.score))
      const isNear = counted.some(route => {
        const { num, den } = devBps(priceOf(route), price)
        return route.score === best && num <= 200n * den
      })
      return isNear ? [{ score: best, deployment: first(counted[0] as RouteView).deployment_id }] : []
    })
    .sort((a, b) => b.score - a.score)
}

/** First hops of at least 34% of the accepted weight, or the heaviest that carry half of it together. */
function heavyPools(byPool: ReadonlyMap<Hex, bigint>, kept: bigint): Set<Hex> {
  const heaviest = [...byPool].sort(([a, of], [b, other]) =>
    of === other ? (a < b ? -1 : 1) : of > other ? -1 : 1,
  )
  const heavy = new Set<Hex>()
  let together = 0n
  for (const [pool, own] of heaviest) {
    if (own * 100n < kept * 34n && together * 2n >= kept) break
    heavy.add(pool)
    together += own
  }
  return heavy
}

function checkScore(
  quote: PricedView,
  live: readonly RouteView[],
  accepted: readonly RouteView[],
  selected: RouteView,
  m0: Rational,
  isUnresolved: boolean,
  kept: bigint,
  total: bigint,
): void {
  const byPool = new Map<Hex, bigint>()
  for (const route of accepted)
    byPool.set(first(route).pool_id, (byPool.get(first(route).pool_id) ?? 0n) + weight(route))
  const sources = sourcesOf(live, accepted, priceOf(selected))
  const deployments = new Set(sources.map(each => each.deployment)).size
  const spread = accepted
    .map(route => devBps(priceOf(route), m0))
    .reduce((a, b) => (compare(a, b) >= 0 ? a : b))
  const { path_agreement, material_routes, aggregate_state } = quote.confidence.components
  assert(
    path_agreement?.['sources'] === sources.length && path_agreement['deployments'] === deployments,
    'sources and deployments',
  )
  const caps = new Map<string, number>()
  const note = (list: readonly CapText[]) => {
    for (const { code, cap } of list) caps.set(code, Math.min(cap, caps.get(code) ?? 10))
  }
  const bySources = Math.max(
    5,
    ...sources.map(({ score }, at) => {
      const isLone = new Set(sources.slice(0, at + 1).map(each => each.deployment)).size < 2
      return Math.min([5, 8, 9, 10][Math.min(at, 3)] as number, score, isLone ? 7 : 10)
    }),
  )
  assert(path_agreement['source_score'] === bySources, 'what the sources are worth together')
  if (sources.length <= 1) caps.set('SINGLE_SOURCE', 5)
  if (isUnresolved) caps.set('NO_INDEPENDENT_CONSENSUS', 2)
  const agreement = Math.min(bySources, spreadBand(spread), retainedBand(kept, total), ...caps.values())
  assert(
    path_agreement.score === agreement,
    () => `path agreement is ${path_agreement.score}, of its parts ${agreement}`,
  )

  const heavy = heavyPools(byPool, kept)
  const restsOn = (route: RouteView): boolean =>
    heavy.has(first(route).pool_id) &&
    (route.hops.length === 1 ||
      (assetQuote(quote, first(route).to)?.routes ?? []).some(
        ({ route_id, material }) => material && route.route_id === `${first(route).pool_id}-${route_id}`,
      ))
  const isMaterial = (route: RouteView): boolean =>
    accepted.some(restsOn) ? restsOn(route) : route === selected
  const material = accepted.filter(isMaterial)
  for (const route of accepted)
    assert(route.material === isMaterial(route), `materiality of ${route.route_id}`)
  assert(
    material_routes?.['routes'] === material.length &&
      material_routes.score === Math.min(...material.map(route => route.score)),
    'material routes',
  )
  for (const route of material) {
    for (const hop of route.hops) note(hop.caps)
    if (route.hops.length > 1) note(assetQuote(quote, first(route).to)?.confidence.caps ?? [])
  }
  const isShouting = (route: RouteView): boolean => {
    const own = sum(live.filter(each => first(each).pool_id === first(route).pool_id).map(weight))
    const all = sum(live.map(weight))
    if (live.some(each => each.reason !== 'IMMATERIAL' && first(each).pool_id === first(route).pool_id))
      return false
    if (own * 100n < all * 2n || own < 50_000_000n) return false
    const { marginal, components, to } = first(route)
    const median = components['temporal']?.['median'] as ExactText | null
    const asset = assetQuote(quote, to)
    const usd = asset === undefined ? valueOf(route.stable?.usd as ExactText) : valueOf(asset.price_usd)
    return [marginal, median].every(ratio => {
      if (ratio === null) return false
      const { num, den } = devBps(times(valueOf(ratio), usd), priceOf(selected))
      return num > 1000n * den
    })
  }
  if (live.some(isShouting)) caps.set('DISSENT', Math.min(4, caps.get('DISSENT') ?? 4))
  note(sellCap(quote))
  note(feedCap(quote, selected))
  note(pastCap(quote, selected))
  const expected = JSON.stringify([...caps].sort(([a], [b]) => (a < b ? -1 : 1)))
  const listed = JSON.stringify(quote.confidence.caps.map(({ code, cap }) => [code, cap]))
  assert(listed === expected, () => `caps are ${listed}, of the parts ${expected}`)
  const states = accepted.flatMap(route =>
    route.hops.flatMap(({ components }) => [components['state']?.score ?? 0, components['feed']?.score ?? 0]),
  )
  assert(
    (aggregate_state?.score as number) <= Math.min(...states),
    'the aggregate state is above one of its pools',
  )
}

/** What a simulated sale of the token found: the greater of the taxes on a sale and on a transfer counts. */
function sellCap({ sellability }: PricedView): CapText[] {
  if (sellability === null || sellability === undefined) return []
  const cap = (code: string, value: number) => [{ code, cap: value }]
  const { status, reason, sell_tax_bps, transfer_tax_bps } = sellability
  if (status === 'UNSELLABLE') return cap('UNSELLABLE', 1)
  if (reason === 'SELL_RESTRICTED') return cap('SELL_RESTRICTED', 3)
  const tax = Math.max(sell_tax_bps ?? 0, transfer_tax_bps ?? 0)
  if (tax > 300) return cap('TRANSFER_TAX', 3)
  if (tax > 50) return cap('TRANSFER_TAX', 6)
  return status === 'UNKNOWN' ? cap('SELLABILITY_UNKNOWN', 7) : []
}

/** By how far the fee-free price of the selected route is from the feed of the asset, if it has one that speaks. */
function feedCap({ usd_feed }: PricedView, { hops, stable }: RouteView): CapText[] {
  if (usd_feed == null || stable === null) return []
  const marginals = hops.map(hop => valueOf(hop.marginal as ExactText))
  const { num, den } = devBps(times(valueOf(stable.usd), ...marginals), valueOf(usd_feed.usd))
  if (num <= 200n * den) return []
  return [{ code: 'ANCHOR_DISPUTED', cap: num <= 500n * den ? 6 : 3 }]
}

/** How far the price without fees is from the median of its own past, unless a feed that speaks says nearly the same. */
function pastCap({ own_past: past, usd_feed }: PricedView, { hops, stable }: RouteView): CapText[] {
  if (past === null || past === undefined) return []
  const factors = [...hops.map(({ marginal }) => marginal as ExactText), stable?.usd as ExactText]
  same(valueOf(past.marginal_usd), times(...factors.map(valueOf)), 'marginal price')
  if (past.reference_usd === null || past.covered_ms < 300_000) return []
  if (usd_feed != null) {
    const apart = devBps(valueOf(past.marginal_usd), valueOf(usd_feed.usd))
    if (apart.num <= 200n * apart.den) return []
  }
  const off = devBps(valueOf(past.marginal_usd), valueOf(past.reference_usd))
  const isFrom = (bps: bigint) => off.num >= bps * off.den
  if (!isFrom(500n)) return []
  return [{ code: 'PRICE_JUMP', cap: isFrom(5_000n) ? 3 : isFrom(2_000n) ? 4 : 6 }]
}

const effective = (hop: HopView): bigint => BigInt(hop.depth?.effective_microusd ?? 0)
const first = (route: RouteView): HopView => route.hops[0] as HopView
const weight = (route: RouteView): bigint => BigInt(route.weight_microusd)
const priceOf = (route: RouteView): Rational => valueOf(route.price_usd as ExactText)
const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

/** The first where twice the weight so far reaches the total. */
function median<Item>(sorted: readonly Item[], weightOf: (item: Item) => bigint): Item {
  const total = sum(sorted.map(weightOf))
  let cumulative = 0n
  const found = sorted.find(item => 2n * (cumulative += weightOf(item)) >= total)
  assert(found !== undefined, 'no observation')
  return found
}

/** The quote of a routing asset on the way, however deep. */
function assetQuote(quote: QuoteView, asset: Address): PricedView | undefined {
  for (const each of quote.routing_assets ?? []) {
    const found = each.token === asset ? each : assetQuote(each, asset)
    if (found?.state === 'PRICED') return found
  }
  return undefined
}

function isExact({ numerator, denominator }: ExactText): void {
  const [num, den] = [BigInt(numerator), BigInt(denominator)]
  const { num: least } = reduced(num, den)
  assert(num > 0n && den > 0n && least === num, `${numerator}/${denominator} is not positive and reduced`)
}

const same = (a: Rational, b: Rational, what: string): void =>
  assert(a.num === b.num && a.den === b.den, () => `${what}: ${a.num}/${a.den} is not ${b.num}/${b.den}`)

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

function spreadBand({ num, den }: Rational): number {
  const bands = [
    [25n, 10],
    [50n, 8],
    [100n, 6],
    [200n, 5],
    [500n, 4],
    [1000n, 3],
  ] as const
  return bands.find(([bps]) => num <= bps * den)?.[1] ?? 2
}

function retainedBand(kept: bigint, total: bigint): number {
  const bands = [
    [100n, 10],
    [90n, 8],
    [80n, 6],
    [67n, 5],
  ] as const
  return bands.find(([percent]) => kept * 100n >= total * percent)?.[1] ?? 0
}
