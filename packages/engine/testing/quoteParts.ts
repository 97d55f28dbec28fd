/** Shared by the laws of a quote: its exact values as rationals, and its hops and routes as the laws read them. */
import { assert } from '../assert.ts'
import type { Address } from '../chain/block.ts'
import type { ExactText } from '../exact/decimal.ts'
import type { Rational } from './byHand.ts'
import type { HopView, QuoteView, RouteView } from './quoteView.ts'

export type PricedView = Extract<QuoteView, { state: 'PRICED' }>

export const valueOf = ({ numerator, denominator }: ExactText): Rational => ({
  num: BigInt(numerator),
  den: BigInt(denominator),
})

export const effective = (hop: HopView): bigint => BigInt(hop.depth?.effective_microusd ?? 0)
export const first = (route: RouteView): HopView => route.hops[0] as HopView
export const weight = (route: RouteView): bigint => BigInt(route.weight_microusd)
export const priceOf = (route: RouteView): Rational => valueOf(route.price_usd as ExactText)
export const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

/** The first where twice the weight so far reaches the total. */
export function median<Item>(sorted: readonly Item[], weightOf: (item: Item) => bigint): Item {
  const total = sum(sorted.map(weightOf))
  let cumulative = 0n
  const found = sorted.find(item => 2n * (cumulative += weightOf(item)) >= total)
  assert(found !== undefined, 'no observation')
  return found
}

/** The quote of a routing asset on the way, however deep. */
export function assetQuote(quote: QuoteView, asset: Address): PricedView | undefined {
  for (const each of quote.routing_assets ?? []) {
    const found = each.token === asset ? each : assetQuote(each, asset)
    if (found?.state === 'PRICED') return found
  }
  return undefined
}

export const same = (a: Rational, b: Rational, what: string): void =>
  assert(a.num === b.num && a.den === b.den, () => `${what}: ${a.num}/${a.den} is not ${b.num}/${b.den}`)
