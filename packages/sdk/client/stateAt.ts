/**
 * A price lives until `expires_at_ms` and no longer than its feed, whether or not a record says so. Readers enforce it
 * themselves: a service that fell silent must not leave an old price standing.
 */
import { type FeedGone, presentState } from '../wire/presented.ts'
import type { CompactState } from '../wire/price.ts'

/** The state as it holds at `nowMs`, while the feed is gone or, left out, is not. */
export const stateAt = (state: CompactState, nowMs: number, feedGone: FeedGone | null = null): CompactState =>
  presentState(state, { nowMs, feedGone })
