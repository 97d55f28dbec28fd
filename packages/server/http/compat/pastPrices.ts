/**
 * Our published prices of a token, as far back as the log reaches. A price is valid from its record to the next, or to
 * its expiry. Where the token had none, or one below the operator's score, there is none.
 */
import { exact } from '@assay/sdk'
import type { CompactState } from '@assay/sdk/wire'
import type { HistoryPoint } from '../../store/history.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { standingPoints } from '../../store/standing.ts'
import { type Price, priceOf, type Token } from './prices.ts'

type Needs = Pick<HttpContext, 'config' | 'store'>

/** Records per read. */
const PAGE = 1000
export const NO_HISTORY = 'NO_HISTORY'

/** The price valid at a moment, or the reason why there was none. */
export async function priceAt(context: Needs, token: Token, ms: number): Promise<Price | string> {
  const row = await context.store.readTokenAt(token.chainId, token.tokenAddress, { ms })
  if (row === null) return NO_HISTORY
  const price = priceOf(JSON.parse(row.state) as CompactState, context.config.compat.minScore)
  if (typeof price === 'string') return price
  return row.expiresAtMs !== null && row.expiresAtMs <= ms ? 'ROUTE_EXPIRED' : price
}

export type Point = {
  readonly atMs: number
  readonly blockNumber: number
  readonly expiresAtMs: number | null
  /** Null when there was none. */
  readonly value: exact.Exact | null
}

/**
 * Every record evaluated in `[fromMs, toMs)`, oldest first. A PRICED record never has score 0, so only a higher minimum
 * needs the states themselves.
 */
export async function* pointsOf(
  { store, config }: Needs,
  { chainId, tokenAddress }: Token,
  fromMs: number,
  toMs: number,
): AsyncGenerator<Point> {
  const { minScore } = config.compat
  let after: { readonly atMs: number; readonly sequence: number } | null = null
  for (;;) {
    const query = { chainId, tokenAddress, fromMs, toMs, after, limit: PAGE }
    const page: readonly (HistoryPoint & { readonly state?: string })[] =
      minScore <= 1 ? await store.readTokenPoints(query) : await store.readTokenHistory(query)
    for (const point of await standingPoints(store, { chainId, tokenAddress }, page)) {
      const { atMs, blockNumber, expiresAtMs, price, state } = point
      const isLow =
        state !== undefined && typeof priceOf(JSON.parse(state) as CompactState, minScore) === 'string'
      yield { atMs, blockNumber, expiresAtMs, value: price === null || isLow ? null : valueOf(price) }
    }
    if (page.length < PAGE) return
    after = page.at(-1) ?? null
  }
}

/** The first record of the log with a price in `[fromMs, toMs)`, with its score. */
export async function firstPrice(
  context: Needs,
  token: Token,
  fromMs: number,
  toMs: number,
): Promise<Price | null> {
  for await (const { atMs, value } of pointsOf(context, token, fromMs, toMs)) {
    if (value === null) continue
    const price = await priceAt(context, token, atMs)
    if (typeof price !== 'string') return price
  }
  return null
}

export const hasPrice = (price: Price | string): price is Price => typeof price !== 'string'

function valueOf(price: string): exact.Exact {
  const [numerator = '', denominator = ''] = price.split('/')
  return exact.from({ numerator, denominator })
}
