/**
 * The rule of the five-minute median on a tape, without sorting the window: the median moves little from one read to
 * the next, so the last one found is tried first. Law: equals `temporalMedian` on the same changes, and `nextFlip`
 * equals its `untilMs`. Gain: the market of `npm run bench:against` is re-priced 27 times as fast.
 */
import { assert } from '../assert.ts'
import * as fraction from '../exact/fraction.ts'
import type { Place } from '../exact/fraction.ts'
import { type Reference, temporalMedian } from '../rules/temporalMedian.ts'
import { WINDOW_MS } from '../rules/temporalWindow.ts'
import { FOREVER } from '../rules/timed.ts'
import { asApprox, type Count, count, type Ms, ms, type Approx, type Sign } from '../units.ts'
import { memory } from './switch.ts'
import {
  changesOf,
  compareAt,
  firstIn,
  fromAt,
  type History,
  approxAt,
  placeAt,
  untilAt,
} from './temporalTape.ts'

const HALF_MS = ms(WINDOW_MS / 2)

/** The position when nothing was found. */
const NOWHERE = count(-1)

/** The median over (t − 300,000, t]: the first ratio at which twice the time at or below it reaches the window. */
export function reference(history: History, t: Ms): Reference {
  if (!memory.isOn) return temporalMedian(changesOf(history), t).value
  const toMs = clamp(history, t)
  const coveredMs = history.open === null ? ms(0) : ms(toMs - fromAt(history, history.start))
  if (coveredMs < WINDOW_MS) return { reason: 'INSUFFICIENT_HISTORY', coveredMs }
  const { ratio: median, approx } = medianAt(history, toMs)
  return { median, approx, coveredMs: WINDOW_MS }
}

/**
 * The earliest time after `t` at which `reference` gives another outcome if nothing is appended. Time only moves
 * weight from the oldest ratios to the newest, so the median moves towards the newest ratio and never turns back: the
 * oldest ratios leave one after the other until the median changes. `now` is the value of `reference` at `t`.
 */
export function nextFlip(history: History, t: Ms, now = reference(history, t)): Ms {
  if (!memory.isOn) return temporalMedian(changesOf(history), t).untilMs
  const { start, end, open } = history
  if (open === null) return FOREVER
  if ('reason' in now) return ms(fromAt(history, start) + WINDOW_MS)

  const median = { ratio: now.median, approx: now.approx }
  const sign = compareAt(history, end, median)
  if (sign === 0) return FOREVER
  // A rising median changes when less than half is at or below it, a falling one when half is below it.
  const lastingMs = (at: Count): Ms => {
    const isUpTo = compareAt(history, at, median) < (sign > 0 ? 1 : 0)
    return ms(isUpTo ? untilAt(history, at) - fromAt(history, at) : 0)
  }
  const first = firstIn(history, clamp(history, t))
  let endedMs = 0
  for (let at = first; at < end; at++) endedMs += lastingMs(at)
  for (let at = first; at < end; at++) {
    endedMs -= lastingMs(at)
    const goneMs = untilAt(history, at) + WINDOW_MS
    const missingMs = sign > 0 ? endedMs - HALF_MS + 1 : HALF_MS - endedMs - (goneMs - open.fromMs)
    // While this ratio leaves, each millisecond gains one, so the surplus is subtracted again.
    if (missingMs <= 0) return ms(goneMs + missingMs)
  }
  assert(false, 'the median has given way when only the newest ratio is left')
}

/** A read from before the newest change, of a block ahead of our clock, counts as made when that change began. */
function clamp({ open }: History, t: Ms): Ms {
  return open === null || t > open.fromMs ? t : open.fromMs
}

/**
 * For a window that is covered. Starts at the last median found, and visits one ratio after the other until half of
 * the time is reached.
 */
function medianAt(history: History, toMs: Ms): Place {
  let place = history.tape.median ?? placeAt(history, history.end)
  for (;;) {
    const { belowMs, sameMs, first } = weigh(history, toMs, place)
    const side: Sign = 2 * belowMs >= WINDOW_MS ? -1 : 2 * (belowMs + sameMs) >= WINDOW_MS ? 0 : 1
    if (side === 0) {
      // The first changes of all pools share one empty tape.
      if (history.end > 0) history.tape.median = place
      // In the form in which it was first stored: equal ratios may have several forms.
      return placeAt(history, first)
    }
    place = placeAt(history, neighbourOf(history, toMs, place, side))
  }
}

/** For how long ratios below a value were valid in the window, and the value itself, first valid at `first`. */
function weigh(
  history: History,
  toMs: Ms,
  place: Place,
): { readonly belowMs: Ms; readonly sameMs: Ms; readonly first: Count } {
  const { tape, end } = history
  const { fromMs, approxes } = tape
  let at = firstIn(history, toMs)
  // An active pool has hundreds of ratios in the window, so this loop reads the arrays of the tape and creates nothing.
  const openMs = fromAt(history, end)
  let heldFromMs = Math.max(fromAt(history, at), toMs - WINDOW_MS)
  let belowMs = 0
  let sameMs = 0
  let first = NOWHERE
  for (; at < end; at++) {
    const untilMs = at + 1 < end ? (fromMs[at + 1] as Ms) : openMs
    const heldMs = untilMs - heldFromMs
    heldFromMs = untilMs
    const sign = fraction.compareApprox(approxes[at] as Approx, place.approx) || compareAt(history, at, place)
    if (sign < 0) belowMs += heldMs
    else if (sign === 0) {
      sameMs += heldMs
      if (first === NOWHERE) first = at
    }
  }
  const [sign, heldMs] = [compareAt(history, end, place), heldAt(history, end, toMs)]
  if (sign < 0) belowMs += heldMs
  else if (sign === 0 && heldMs > 0) {
    sameMs += heldMs
    if (first === NOWHERE) first = end
  }
  return { belowMs: ms(belowMs), sameMs: ms(sameMs), first }
}

/** The next ratio on one side of a place, among those in the window. */
function neighbourOf(history: History, toMs: Ms, place: Place, side: Sign): Count {
  const { tape, end } = history
  let nearest = NOWHERE
  let most = asApprox(Number.NaN)
  for (let at = firstIn(history, toMs); at <= end; at++) {
    const approx = at < end ? (tape.approxes[at] as Approx) : approxAt(history, end)
    // Nearly all are certainly on the other side, or beyond the closest one.
    if (
      fraction.compareApprox(approx, place.approx) === -side ||
      fraction.compareApprox(approx, most) === side
    )
      continue
    if (compareAt(history, at, place) !== side || heldAt(history, at, toMs) <= 0) continue
    if (nearest !== NOWHERE && compareAt(history, at, placeAt(history, nearest)) !== -side) continue
    nearest = at
    most = approx
  }
  return nearest
}

/** How long it held within the window that ends at `toMs`; zero or less if it did not. */
function heldAt(history: History, at: Count, toMs: Ms): Ms {
  const fromMs = fromAt(history, at)
  const sinceMs = toMs - WINDOW_MS
  const untilMs = at < history.end ? untilAt(history, at) : toMs
  return ms(untilMs - (fromMs > sinceMs ? fromMs : sinceMs))
}
