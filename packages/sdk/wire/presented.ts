/**
 * States as a reader sees them at a moment. The last record is the price until the next one, but no price outlives
 * its feed or its expiry, whether or not a record says so yet: a reader then presents the token as UNPRICED on top of
 * the record.
 *
 * The record itself is never changed. The service's answers and the SDK's view all follow this one rule.
 */
import type { FeedStatus } from './health.ts'
import type { CompactPriced, CompactState, CompactUnpriced, LastPriced } from './price.ts'

/** The moment of reading. */
export type Reading = {
  readonly nowMs: number
  /** Why the chain's feed is gone; null while it carries prices. */
  readonly feedGone: FeedGone | null
}

export type FeedGone = 'GAP' | 'UNAVAILABLE'

export const toGone = (status: FeedStatus): FeedGone | null =>
  status === 'GAP' || status === 'UNAVAILABLE' ? status : null

/** The fields of a stored state that decide. */
export type StateHead = {
  readonly state: string
  readonly reason?: string | null
  readonly expires_at_ms?: number | null
}

/** Reasons that a missing feed does not change: the engine gives them precedence too. */
const KEPT: ReadonlySet<string> = new Set(['FEED', 'OPERATOR', 'DORMANT'])

/** The reason to present instead of the stored state; null if the record is shown as it is. */
export function overlayOf(
  { state, reason, expires_at_ms }: StateHead,
  { nowMs, feedGone }: Reading,
): 'FEED' | 'ROUTE_EXPIRED' | null {
  if (feedGone !== null) return state === 'UNPRICED' && KEPT.has(reason ?? '') ? null : 'FEED'
  const isExpired = state === 'PRICED' && typeof expires_at_ms === 'number' && expires_at_ms <= nowMs
  return isExpired ? 'ROUTE_EXPIRED' : null
}

export function presentState(stored: CompactState, reading: Reading): CompactState {
  const reason = overlayOf(stored, reading)
  return reason === null ? stored : presentedAs(stored, reason)
}

/** The UNPRICED state with that reason, and with the price of the record. */
export function presentedAs(stored: CompactState, reason: 'FEED' | 'ROUTE_EXPIRED'): CompactUnpriced {
  const { evaluated_at_ms, as_of, policy_version } = stored
  const last_priced = lastPricedIn(stored)
  return {
    state: 'UNPRICED',
    reason,
    presented: true,
    ...(last_priced === undefined ? {} : { last_priced }),
    evaluated_at_ms,
    as_of,
    policy_version,
  }
}

/** The last price as of a stored state; undefined for an UNPRICED state written before the field existed. */
export const lastPricedIn = (stored: CompactState): LastPriced | null | undefined =>
  stored.state === 'PRICED' ? lastPricedOf(stored) : stored.last_priced

const lastPricedOf = ({ price_usd, confidence, evaluated_at_ms, as_of }: CompactPriced) => ({
  price_usd,
  score: confidence.score,
  at_ms: evaluated_at_ms,
  stream_sequence: as_of.stream_sequence,
})
