/**
 * Where a subscription starts: live, after its cursor, or nowhere, because the cursor cannot be resumed or this node is
 * behind the log. The WebSocket and the event stream share this rule.
 */
import type { ResetReason, ResetRequired } from '@assay/sdk/wire'
import type { Clock } from '../ops/clock.ts'
import type { LogStore, Sequence } from '../store/port.ts'
import { checkCursor, filterDigest, openCursor, type Wanted } from './cursor.ts'
import type { Subscription } from './filter.ts'
import type { Hub } from './hub.ts'

/**
 * How often the keys of open streams are checked. A cached key is trusted for less than a second in these checks, so a
 * revocation takes effect within five.
 */
export const REVALIDATE_MS = 2500
/** A node behind the log waits this long for it, then asks the client to come back. */
const CATCH_UP_MS = 5000
const LOOK_MS = 100

export type Start =
  | { readonly kind: 'START'; readonly after: Sequence; readonly isReplaying: boolean }
  | { readonly kind: 'RESET'; readonly reason: ResetReason }
  | { readonly kind: 'BEHIND'; readonly sequence: Sequence }

type Context = {
  readonly hub: Hub
  readonly store: LogStore
  readonly clock: Clock
  readonly cursorSecret: Uint8Array
}

/** Cursors are of one whole chain; `ofFilters` also accepts those of several chains and of ids. */
export async function startOf(
  context: Context,
  subscription: Subscription,
  { ofFilters = false } = {},
): Promise<Start> {
  const { store, hub, clock, cursorSecret } = context
  if (subscription.resumeCursor === null) return { kind: 'START', after: hub.head, isReplaying: false }
  const cursor = openCursor(cursorSecret, subscription.resumeCursor)
  const wanted = ofFilters
    ? { ...wantedBy(subscription), filter: filterDigest(subscription) }
    : wantedBy(subscription)
  const refused = checkCursor(cursor, await store.readBounds(), wanted, clock.nowMs())
  if (refused !== null || cursor === null) {
    const reason = refused ?? 'INVALID_CURSOR'
    return { kind: 'RESET', reason }
  }
  if (!(await isCaughtUp(context, cursor.sequence))) return { kind: 'BEHIND', sequence: cursor.sequence }
  return { kind: 'START', after: cursor.sequence, isReplaying: true }
}

export const wantedBy = ({ chainIds, poolIds, tokenIds }: Subscription): Wanted => ({
  chainIds,
  isNarrowed: poolIds.size > 0 || tokenIds.size > 0,
})

async function isCaughtUp({ hub, clock }: Context, sequence: Sequence): Promise<boolean> {
  const untilMs = clock.monotonicMs() + CATCH_UP_MS
  while (hub.head < sequence) {
    if (clock.monotonicMs() > untilMs) return false
    await new Promise<void>(resolve => {
      const unlisten = hub.listen({ wake: done })
      const timer = setTimeout(done, LOOK_MS)
      function done() {
        clearTimeout(timer)
        unlisten()
        resolve()
      }
      hub.wake()
    })
  }
  return true
}

/** The one message without a sequence. */
export const resetMessage = (reason: ResetReason, nowMs: number): string =>
  JSON.stringify({
    type: 'RESET_REQUIRED',
    payload: { reason, server_time_unix_ms: nowMs },
  } satisfies ResetRequired)

/** Spreads the reconnects over time. */
export const restartNotice = (): string =>
  `restarting; retry_after_ms=${500 + Math.floor(Math.random() * 4500)}`
