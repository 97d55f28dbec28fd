/**
 * The price at a moment: the one valid then, however old; with a search width it must have been written within that. If
 * the log begins later, the first price after the moment counts, within the width.
 */
import type { HttpContext } from '../../plumbing/context.ts'
import { firstPrice, hasPrice, NO_HISTORY, priceAt } from '../pastPrices.ts'
import type { Price, Token } from '../prices.ts'

type Needs = Pick<HttpContext, 'clock' | 'config' | 'store'>

/** As in DefiLlama. */
const DEFAULT_WIDTH_MS = 6 * 3_600_000

export async function priceNear(
  context: Needs,
  token: Token,
  atMs: number,
  widthMs: number | null,
): Promise<Price | string> {
  // Only the past is history: a future moment has no price, and the current price comes from another read.
  const nowMs = context.clock.nowMs()
  if (atMs > nowMs) return 'FUTURE'
  const held = await priceAt(context, token, atMs)
  if (hasPrice(held)) return widthMs !== null && atMs - held.evaluatedAtMs > widthMs ? 'SEARCH_WIDTH' : held
  // A record without a price is an answer: no later record replaces it.
  if (held !== NO_HISTORY) return held
  const toMs = Math.min(nowMs, atMs + (widthMs ?? DEFAULT_WIDTH_MS)) + 1
  return (await firstPrice(context, token, atMs, toMs)) ?? NO_HISTORY
}
