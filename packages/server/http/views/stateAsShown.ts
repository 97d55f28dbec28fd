/**
 * Stored states as this node presents them at a moment: the overlay of the wire (no price outlives its feed or its
 * expiry) on compact states, full quotes and pools. Every reader of a stored state goes through here; the snapshot and
 * the history leave the feed out and report it beside their rows.
 */
import { type CompactState, overlayOf, presentedAs, type Reading } from '@assay/sdk/wire'
import type { Clock } from '../../ops/clock.ts'
import type { Feeds } from './feeds.ts'

/** How to present a chain's prices now. */
export function readingOf(
  { clock, feeds }: { readonly clock: Clock; readonly feeds: Pick<Feeds, 'gone'> },
  chainId: number,
): Reading {
  const nowMs = clock.nowMs()
  return { nowMs, feedGone: feeds.gone(chainId, nowMs) }
}

/** For rows shown as committed: only expiry is applied. */
export const asCommitted = (nowMs: number): Reading => ({ nowMs, feedGone: null })

/** A compact state, or a full quote: its leading fields decide. */
export function present(stored: object, reading: Reading): object {
  const state = stored as CompactState
  const reason = overlayOf(state, reading)
  if (reason === null) return stored
  const { chain_id, token, source, last_trade_ms } = stored as Record<string, unknown>
  const identity = chain_id === undefined ? {} : { chain_id, token, source, last_trade_ms, candidates: [] }
  return { ...identity, ...presentedAs(state, reason) }
}

export const presentText = (text: string | null, reading: Reading): object | null =>
  text === null ? null : present(JSON.parse(text) as object, reading)

type PoolState = { readonly reason: string | null; readonly components: object }

/** A pool whose feed is gone scores 0; its balances are those last read. */
export function presentPool<State extends object>(stored: State, { feedGone }: Reading): object {
  const { reason, components } = stored as unknown as PoolState
  if (feedGone === null || reason === 'FEED') return stored
  return {
    ...stored,
    score: 0,
    components: { ...components, feed: { score: 0, status: feedGone } },
    reason: 'FEED',
    presented: true,
  }
}

/** A pool's quote made by its worker, which may have lost the feed before this node noticed. */
export function presentPoolQuote(quote: { readonly state: object }, reading: Reading): object {
  if (reading.feedGone === null) return quote
  return {
    ...quote,
    state: presentPool(quote.state, reading),
    prices: { token0_usd: null, token1_usd: null },
  }
}
