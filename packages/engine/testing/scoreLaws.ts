/**
 * The laws of a published score: path agreement, material routes, the aggregate state and every cap, recomputed from
 * what the quote shows.
 */
import { assert } from '../assert.ts'
import type { Hex } from '../chain/block.ts'
import type { ExactText } from '../exact/decimal.ts'
import { compare, devBps, type Rational, times } from './byHand.ts'
import { assetQuote, first, type PricedView, priceOf, same, sum, valueOf, weight } from './quoteParts.ts'
import type { CapText, RouteView } from './quoteView.ts'

export function checkScore(
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

/** How far the price without fees is from the median of its own past, unless a fresh feed nearly agrees. */
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
