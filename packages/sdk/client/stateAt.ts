/**
 * A price lives until `expires_at_ms` and no longer than its feed, whether or not a record says so. Readers enforce
 * this themselves: a service that went silent must not leave an old price in force.
 */
import { type FeedGone, presentState } from '../wire/presented.ts'
import type { CompactState } from '../wire/price.ts'

/** The state at `nowMs`. `feedGone` states why the feed is gone; omitted, the feed is alive. */
export const stateAt = (state: CompactState, nowMs: number, feedGone: FeedGone | null = null): CompactState =>
  presentState(state, { nowMs, feedGone })
