/**
 * How much to trust the past of a pool before it was followed (R-history-3 to R-history-7). A past that could not be
 * read, or that begins too late, caps the score until the pool has been watched for the same time. Logs without proof
 * of completeness support a steady price only to a limited degree.
 */
import type { Policy } from '../policy/policy.ts'
import { type Ms, ms, type Score, score } from '../units.ts'
import type { Cap } from './reasons.ts'
import { earlier, FOREVER, type Timed } from './timed.ts'
import { WINDOW_MS } from './temporalWindow.ts'
import { tradeAgeCap } from './tradeAge.ts'

/** How far back a pool's past is read: thirty minutes for the average, and five for the median before them. */
export const HISTORY_MS = ms(2_100_000)

/**
 * READ: folded from the logs of the window, starting from a known state. SHORT: folded from the first event on.
 * UNREAD: the past could not be read.
 */
export type PastKind = 'READ' | 'SHORT' | 'UNREAD'

export type Past = {
  readonly kind: PastKind
  /** The time of the block at which the past was read; blocks are watched from then on. */
  readonly readMs: Ms
  /** It was proven, not assumed, that no log between these was omitted. */
  readonly isProven: boolean
  readonly times: 'EXACT' | 'INTERPOLATED'
  /** The pool's last trade before the window is no later than this. Anyone can make it appear later than it was. */
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

/** The maximum of `temporal` while any of its five minutes comes from logs and not from watched blocks. */
export function temporalLimit(past: Past | null, atMs: Ms): Timed<Score> {
  const isExact = past === null || (past.isProven && past.times === 'EXACT')
  if (isExact || past.kind === 'UNREAD') return { value: NO_LIMIT, untilMs: FOREVER }
  const untilMs = ms(past.readMs + WINDOW_MS)
  if (atMs >= untilMs) return { value: NO_LIMIT, untilMs: FOREVER }
  return { value: past.times === 'EXACT' ? UNPROVEN : INTERPOLATED, untilMs }
}

type Traded = { readonly lastTradeMs: Ms | null; readonly trackedSinceMs: Ms; readonly past: Past | null }

/**
 * Anyone can make the bound appear later than the trade was. It may therefore lower the cap of an unknown trade, and
 * never lifts it.
 */
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

/** Whether the average of the pool rests on observed history and not only on the state it was found in. */
export const hasHistory = ({ past, trackedSinceMs, isBeforeGap }: Followed, timeMs: Ms): boolean =>
  !isBeforeGap && (past?.kind === 'READ' || timeMs - trackedSinceMs >= HISTORY_MS)
