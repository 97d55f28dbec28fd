/**
 * What is believed of a pool's time before it was followed (R-history-3 to R-history-7): a past that could not be had, or
 * begins too late, caps the score until as much has been watched, and logs that nobody proved steady a price only so far.
 */
import type { Policy } from '../policy/policy.ts'
import { type Ms, ms, type Score, score } from '../units.ts'
import type { Cap } from './reasons.ts'
import { earlier, FOREVER, type Timed } from './timed.ts'
import { WINDOW_MS } from './temporalWindow.ts'
import { tradeAgeCap } from './tradeAge.ts'

/** How far back a pool's past is read: thirty minutes of the average, and five of the median before them. */
export const HISTORY_MS = ms(2_100_000)

/**
 * READ: folded from the logs of the window, whose first state is known. SHORT: folded from its first event only. UNREAD:
 * it could not be had.
 */
export type PastKind = 'READ' | 'SHORT' | 'UNREAD'

export type Past = {
  readonly kind: PastKind
  /** The time of the block it was read at: from then on blocks are watched. */
  readonly readMs: Ms
  /** Nothing between its logs was left out: that was shown, not believed. */
  readonly isProven: boolean
  readonly times: 'EXACT' | 'INTERPOLATED'
  /** The pool's last trade before the window is no later than this; anyone can make it later than it was. */
  readonly tradedByMs: Ms | null
}

const UNKNOWN_PAST = score(3)
const UNPROVEN = score(8)
const INTERPOLATED = score(6)
const NO_LIMIT = score(10)

export function historyCap(past: Past | null, atMs: Ms): Timed<Cap | null> {
  if (past === null || past.kind === 'READ') return { value: null, untilMs: FOREVER }
  const untilMs = ms(past.readMs + HISTORY_MS)
  if (atMs >= untilMs) return { value: null, untilMs: FOREVER }
  return { value: { code: `HISTORY_${past.kind}`, cap: UNKNOWN_PAST }, untilMs }
}

/** What `temporal` is at most while any of its five minutes comes from logs and not from watched blocks. */
export function temporalLimit(past: Past | null, atMs: Ms): Timed<Score> {
  const isExact = past === null || (past.isProven && past.times === 'EXACT')
  if (isExact || past.kind === 'UNREAD') return { value: NO_LIMIT, untilMs: FOREVER }
  const untilMs = ms(past.readMs + WINDOW_MS)
  if (atMs >= untilMs) return { value: NO_LIMIT, untilMs: FOREVER }
  return { value: past.times === 'EXACT' ? UNPROVEN : INTERPOLATED, untilMs }
}

type Traded = { readonly lastTradeMs: Ms | null; readonly trackedSinceMs: Ms; readonly past: Past | null }

/** Anyone can make the bound later than it was: it may lower the cap of a trade that is not known, and never lifts it. */
export function lastTradeCap(
  { lastTradeMs, trackedSinceMs, past }: Traded,
  policy: Policy,
  atMs: Ms,
): Timed<Cap | null> {
  const own = tradeAgeCap(lastTradeMs, trackedSinceMs, policy, atMs)
  const boundMs = past?.tradedByMs ?? null
  if (policy.revision === 1 || lastTradeMs !== null || boundMs === null) return own
  const bound = tradeAgeCap(boundMs, boundMs, policy, atMs)
  const isLower = bound.value !== null && (own.value === null || bound.value.cap < own.value.cap)
  return { value: isLower ? bound.value : own.value, untilMs: earlier(own.untilMs, bound.untilMs) }
}

type Followed = { readonly past: Past | null; readonly trackedSinceMs: Ms; readonly isBeforeGap: boolean }

/** Whether the average of the pool rests on what was seen, and not on what it was found with. */
export const hasHistory = ({ past, trackedSinceMs, isBeforeGap }: Followed, timeMs: Ms): boolean =>
  !isBeforeGap && (past?.kind === 'READ' || timeMs - trackedSinceMs >= HISTORY_MS)
