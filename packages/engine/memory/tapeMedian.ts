/**
 * The rule of the five-minute median on a tape, without putting the window in order. The median moves little from one
 * read to the next, so the last one found is tried first, and how long ratios below it held is known from then: only
 * what has come and gone since is looked at. Law: the outcome of `temporalMedian` on the same changes, and of `nextFlip`
 * its `untilMs`.
 */
import { assert } from '../assert.ts'
import * as fraction from '../exact/fraction.ts'
import { type Reference, temporalMedian, WINDOW_MS } from '../rules/temporalMedian.ts'
import { FOREVER } from '../rules/timed.ts'
import { asNear, type Count, count, type Ms, ms, type Near, type Sign } from '../units.ts'
import { memory } from './switch.ts'
import { compareTo, NOWHERE, type Place, Tally } from './tally.ts'
import {
  changesOf,
  compareAt,
  firstIn,
  fromAt,
  type History,
  nearAt,
  placeAt,
  untilAt,
} from './temporalTape.ts'

const HALF_MS = ms(WINDOW_MS / 2)

/** So often the next ratio is tried for the median, before all are put in order. */
const MOST_TRIES = 4

/** The median over (t − 300,000, t]: the first ratio where twice the time at or below it reaches the window. */
export function reference(history: History, t: Ms): Reference {
  if (!memory.isOn) return temporalMedian(changesOf(history), t).value
  const toMs = clamp(history, t)
  const coveredMs = covered(history, toMs)
  if (coveredMs < WINDOW_MS) return { reason: 'INSUFFICIENT_HISTORY', coveredMs }
  const { ratio: median, near } = medianAt(history, toMs)
  return { median, near, coveredMs: WINDOW_MS }
}

/**
 * The earliest time after `t` at which `reference` gives another outcome if nothing is appended. Time moves weight from the oldest ratios to the newest and no other way, so the median walks
 * towards the newest ratio and never turns: one after the other the oldest leave, until it has given way.
 * `now` is what `reference` gives at `t`.
 */
export function nextFlip(history: History, t: Ms, now = reference(history, t)): Ms {
  if (!memory.isOn) return temporalMedian(changesOf(history), t).untilMs
  const { start, end, open } = history
  if (open === null) return FOREVER
  if ('reason' in now) return ms(fromAt(history, start) + WINDOW_MS)

  const median = { ratio: now.median, near: now.near }
  const sign = compareAt(history, end, median)
  if (sign === 0) return FOREVER
  // A rising median gives way when less than half is at or below it, a falling one when half is below it.
  const lastingMs = (at: Count): Ms => {
    const isUpTo = compareAt(history, at, median) < (sign > 0 ? 1 : 0)
    return ms(isUpTo ? untilAt(history, at) - fromAt(history, at) : 0)
  }
  const first = firstIn(history, clamp(history, t))
  const { belowMs, sameMs } = endedBefore(history, median, first)
  let endedMs = belowMs + (sign > 0 ? sameMs : 0) + lastingMs(count(end - 1))
  for (let at = first; at < end; at++) {
    endedMs -= lastingMs(at)
    const goneMs = untilAt(history, at) + WINDOW_MS
    const missingMs = sign > 0 ? endedMs - HALF_MS + 1 : HALF_MS - endedMs - (goneMs - open.fromMs)
    // All through its leaving one millisecond was gained in each, so what is left over counts back.
    if (missingMs <= 0) return ms(goneMs + missingMs)
  }
  assert(false, 'the median has given way when only the newest ratio is left')
}

/** The tally of a median, of all that has ended from `first` on but the last. */
function endedBefore({ tape, end }: History, median: Place, first: Count): Tally {
  const known = tape.median
  const isKnown = known !== null && compareTo(known.place, median.ratio, median.near) === 0
  const tally = isKnown ? known : new Tally(median)
  tally.moveTo(tape, first, count(end - 1))
  return tally
}

/** A read from before the newest change (a block ahead of our clock) counts as made when it began. */
function clamp({ open }: History, t: Ms): Ms {
  return open === null || t > open.fromMs ? t : open.fromMs
}

function covered(history: History, toMs: Ms): Ms {
  if (history.open === null) return ms(0)
  const oldestMs = fromAt(history, history.start)
  return toMs - oldestMs < WINDOW_MS ? ms(toMs - oldestMs) : WINDOW_MS
}

/** Of a window that is covered. */
function medianAt(history: History, toMs: Ms): Place {
  let tried = history.tape.median ?? new Tally(placeAt(history, history.end))
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { belowMs, sameMs, first } = weigh(history, toMs, tried)
    const sign: Sign = 2 * belowMs >= WINDOW_MS ? -1 : 2 * (belowMs + sameMs) >= WINDOW_MS ? 0 : 1
    if (sign === 0) return remember(history, tried, first)
    tried = new Tally(placeAt(history, neighbourOf(history, toMs, tried.place, sign)))
  }
  const found = new Tally(placeAt(history, medianInOrder(history, toMs)))
  return remember(history, found, weigh(history, toMs, found).first)
}

/** As it was first written, whoever found it: equal ratios may be written in several ways. */
function remember(history: History, found: Tally, first: Count): Place {
  // The first change of every pool stands beside the same empty tape.
  if (history.end > 0) history.tape.median = found
  return placeAt(history, first)
}

/** How long ratios below a place held in the window, and the same ratio, which stood first at `first`. */
function weigh(history: History, toMs: Ms, tally: Tally): Pick<Tally, 'belowMs' | 'sameMs' | 'first'> {
  const { tape, end } = history
  const start = firstIn(history, toMs)
  // Where the last that has ended did so does not stand on the tape.
  const last = count(Math.max(start, end - 1))
  tally.moveTo(tape, start, last)
  let { belowMs, sameMs, first } = tally
  const add = (at: Count, heldMs: Ms): void => {
    const sign = compareAt(history, at, tally.place)
    if (sign < 0) belowMs = ms(belowMs + heldMs)
    if (sign !== 0 || heldMs === 0) return
    sameMs = ms(sameMs + heldMs)
    if (first === NOWHERE) first = at
  }
  // The oldest may have begun before the window.
  if (start < last) add(start, ms(Math.min(0, fromAt(history, start) - toMs + WINDOW_MS)))
  for (let at = last; at <= end; at = count(at + 1)) add(at, heldAt(history, at, toMs))
  return { belowMs, sameMs, first }
}

/** The next ratio on a side of a place, of those in the window. */
function neighbourOf(history: History, toMs: Ms, place: Place, side: Sign): Count {
  const { tape, end } = history
  let nearest = NOWHERE
  let most = asNear(Number.NaN)
  for (let at = firstIn(history, toMs); at <= end; at++) {
    const near = at < end ? (tape.nears[at] as Near) : nearAt(history, end)
    // Nearly all are surely on the other side, or beyond the nearest.
    if (fraction.compareNear(near, place.near) === -side || fraction.compareNear(near, most) === side)
      continue
    if (compareAt(history, at, place) !== side || heldAt(history, at, toMs) <= 0) continue
    if (nearest !== NOWHERE && compareAt(history, at, placeAt(history, nearest)) !== -side) continue
    nearest = at
    most = near
  }
  return nearest
}

/** By putting the whole window in order, after a jump. */
function medianInOrder(history: History, toMs: Ms): Count {
  const inOrder: Count[] = []
  for (let at = firstIn(history, toMs); at <= history.end; at++)
    if (heldAt(history, at, toMs) > 0) inOrder.push(at)
  inOrder.sort((a, b) => compareAt(history, a, placeAt(history, b)) || a - b)
  let cumulative = 0
  return inOrder.find(at => {
    cumulative += heldAt(history, at, toMs)
    return 2 * cumulative >= WINDOW_MS
  }) as Count
}

/** How long it held within the window that ends at `toMs`; nothing or less if it did not. */
function heldAt(history: History, at: Count, toMs: Ms): Ms {
  const fromMs = fromAt(history, at)
  const sinceMs = toMs - WINDOW_MS
  const untilMs = at < history.end ? untilAt(history, at) : toMs
  return ms(untilMs - (fromMs > sinceMs ? fromMs : sinceMs))
}
