/**
 * A quote under verification: its text, its path in the whole, and its sources. Dollars come from only two places:
 * the stables its routes end in and the routing assets it contains in full.
 */
import type { Fraction, Policy } from '@assay/engine/rules'
import type { AssetQuote, PricedQuote } from '../wire/quote.ts'
import type { Route } from '../wire/route.ts'
import type { Findings } from './findings.ts'

export type PricedText = PricedQuote | Extract<AssetQuote, { state: 'PRICED' }>
export type StableText = NonNullable<Route['stable']>

export type Reading = {
  readonly findings: Findings
  readonly policy: Policy
  readonly quote: PricedText
  /** The path of this quote in the whole; '' for the top one. */
  readonly path: string
  readonly atMs: number
  readonly ttlMs: number
  readonly stables: ReadonlyMap<string, { readonly text: StableText; readonly path: string }>
  readonly assets: ReadonlyMap<string, { readonly quote: PricedText; readonly path: string }>
}

export function readingOf(findings: Findings, policy: Policy, quote: PricedText, path: string): Reading {
  const assets = new Map<string, { quote: PricedText; path: string }>()
  const stables = new Map<string, { text: StableText; path: string }>()
  collect(quote, path, assets, stables)
  return {
    findings,
    policy,
    quote,
    path,
    atMs: findings.integer(at(path, 'evaluated_at_ms'), quote.evaluated_at_ms),
    ttlMs: policy.ttl_ms.by_chain[String(quote.chain_id)] ?? policy.ttl_ms.default,
    stables,
    assets,
  }
}

/** The value of a whole Y; null when the quote does not state it. */
export function usdOf(
  { findings, stables, assets }: Reading,
  token: string,
): { usd: Fraction; path: string } | null {
  const stable = stables.get(token)
  if (stable !== undefined)
    return { usd: findings.value(`${stable.path}.usd`, stable.text.usd), path: `${stable.path}.usd` }
  const asset = assets.get(token)
  if (asset === undefined) return null
  const path = at(asset.path, 'price_usd')
  return { usd: findings.value(path, asset.quote.price_usd), path }
}

export const at = (path: string, field: string): string => (path === '' ? field : `${path}.${field}`)

/** The first answer found for a stable, and every routing asset at any depth. */
function collect(
  quote: PricedText,
  path: string,
  assets: Map<string, { quote: PricedText; path: string }>,
  stables: Map<string, { text: StableText; path: string }>,
): void {
  quote.routes.forEach(({ stable }, index) => {
    if (stable !== null && !stables.has(stable.token_address))
      stables.set(stable.token_address, { text: stable, path: at(path, `routes[${index}].stable`) })
  })
  quote.routing_assets.forEach((asset, index) => {
    const own = at(path, `routing_assets[${index}]`)
    if (asset.state !== 'PRICED' || assets.has(asset.token)) return
    assets.set(asset.token, { quote: asset, path: own })
    collect(asset, own, assets, stables)
  })
}
