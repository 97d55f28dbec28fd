/**
 * The five-minute duration-weighted median of a pool's own price (R-temporal-1, R-temporal-2): the reference for a
 * sudden move.
 */
import { apart, apartApprox, bpsMore } from '../exact/apart.ts'
import { firstFrom } from '../exact/firstFrom.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { type Ms, ms, type Approx, type Score, score } from '../units.ts'
import { type Change, WINDOW_MS } from './temporalWindow.ts'
import { FOREVER, type Timed } from './timed.ts'

export type Reference =
  | { readonly median: Fraction; readonly approx: Approx; readonly coveredMs: Ms }
  | { readonly reason: 'INSUFFICIENT_HISTORY'; readonly coveredMs: Ms }

/** `[largest distance, score]`; 2 beyond the last entry. */
const UP_TO = [
  [bpsMore(100n), score(10)],
  [bpsMore(200n), score(8)],
  [bpsMore(500n), score(5)],
] as const

const INSUFFICIENT_HISTORY_SCORE = score(5)

/**
 * The median over (t − 300,000, t]: the first ratio at which twice the time at or below it reaches the window.
 * `changes` follow one another without a gap, oldest first.
 */
export function temporalMedian(changes: readonly Change[], t: Ms): Timed<Reference> {
  const [oldest] = changes
  const newest = changes.at(-1)
  if (oldest === undefined || newest === undefined)
    return { value: { reason: 'INSUFFICIENT_HISTORY', coveredMs: ms(0) }, untilMs: FOREVER }
  const value = medianAt(changes, t)
  if ('reason' in value) return { value, untilMs: ms(oldest.fromMs + WINDOW_MS) }
  if (fraction.compare(value.median, newest.ratio) === 0) return { value, untilMs: FOREVER }
  // Time only moves weight from the oldest ratios to the newest, so a ratio that has ceased to be the median does not
  // become it again.
  const isOther = (thenMs: Ms): boolean => {
    const then = medianAt(changes, thenMs)
    return !('median' in then) || fraction.compare(then.median, value.median) !== 0
  }
  const sinceMs = ms(Math.max(t, newest.fromMs))
  return { value, untilMs: firstFrom(sinceMs, ms(newest.fromMs + WINDOW_MS), isOther) }
}

function medianAt(changes: readonly Change[], t: Ms): Reference {
  const oldest = changes[0] as Change
  // A read from before the newest change, of a block ahead of our clock, counts as made when that change began.
  const toMs = Math.max(t, (changes.at(-1) as Change).fromMs)
  if (toMs - oldest.fromMs < WINDOW_MS)
    return { reason: 'INSUFFICIENT_HISTORY', coveredMs: ms(toMs - oldest.fromMs) }
  const held = changes
    .map(({ fromMs, ratio: value }, at) => ({
      value,
      forMs: (changes[at + 1]?.fromMs ?? toMs) - Math.max(fromMs, toMs - WINDOW_MS),
    }))
    .filter(({ forMs }) => forMs > 0)
  let atOrBelowMs = 0
  for (const { value, forMs } of held.toSorted((a, b) => fraction.compare(a.value, b.value))) {
    atOrBelowMs += forMs
    if (2 * atOrBelowMs < WINDOW_MS) continue
    // Return the ratio in its first notation: equal ratios may be written in several ways.
    const first = held.find(each => fraction.compare(each.value, value) === 0)
    const median = first?.value ?? value
    return { median, approx: fraction.approx(median), coveredMs: WINDOW_MS }
  }
  return { reason: 'INSUFFICIENT_HISTORY', coveredMs: ms(0) }
}

/** How far the block-final marginal is from the median; `approx` is its approximation, if known. */
export function temporalScore(
  marginal: Fraction,
  reference: Reference,
  approx = fraction.approx(marginal),
): Score {
  if ('reason' in reference) return INSUFFICIENT_HISTORY_SCORE
  for (const [bound, value] of UP_TO)
    if ((apartApprox(approx, reference.approx, bound) || apart(marginal, reference.median, bound)) <= 0)
      return value
  return score(2)
}
