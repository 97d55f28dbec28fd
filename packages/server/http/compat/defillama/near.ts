/**
 * The price that a moment has. What held then counts, whenever it was written; with a search width it must have been
 * written within that. Where the log begins later, the first price after the moment counts, within the width.
 */
import type { HttpContext } from '../../plumbing/context.ts'
import { firstPrice, hasPrice, NO_HISTORY, priceAt } from '../pastPrices.ts'
import type { Price, Token } from '../prices.ts'

/** As DefiLlama has it. */
const DEFAULT_WIDTH_MS = 6 * 3_600_000

export async function priceNear(
  context: HttpContext,
  token: Token,
  atMs: number,
  widthMs: number | null,
): Promise<Price | string> {
  // What is not over yet is not history: a moment to come has no price, and that of now is asked for as such.
  const nowMs = context.clock.nowMs()
  if (atMs > nowMs) return 'FUTURE'
  const held = await priceAt(context, token, atMs)
  if (hasPrice(held)) return widthMs !== null && atMs - held.evaluatedAtMs > widthMs ? 'SEARCH_WIDTH' : held
  // A record without a price is an answer: nothing that came later stands in for it.
  if (held !== NO_HISTORY) return held
  const toMs = Math.min(nowMs, atMs + (widthMs ?? DEFAULT_WIDTH_MS)) + 1
  return (await firstPrice(context, token, atMs, toMs)) ?? NO_HISTORY
}
