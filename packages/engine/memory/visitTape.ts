/**
 * The booked span of a moment on the tape of a pool's history (R-visit-4). Law: equals `bookRatio` of the same
 * changes. A moment with several blocks is booked once per block, every time from the history at the start of the
 * moment.
 */
import type { Fraction, Place } from '../exact/fraction.ts'
import type { Change } from '../rules/temporalWindow.ts'
import { type Booked, bookRatio } from '../rules/visit.ts'
import { count } from '../units.ts'
import { memory } from './switch.ts'
import { append, backTo, changesOf, EMPTY, extend, fromAt, type History, restore } from './temporalTape.ts'

/** The history with the span before the moment booked, and `ratio` holding from the moment on. */
export function book(history: History, booked: Booked, ratio: Fraction): History {
  if (!memory.isOn) return restore(bookRatio(changesOf(history), booked, ratio))
  const { sinceMs, timeMs, nearest } = booked
  return append(nearest === null ? EMPTY : append(history, sinceMs, nearest.ratio), timeMs, ratio)
}

/**
 * The history from when `held` was the ratio in force: everything booked and appended since is removed, and merged
 * ratios are split again.
 */
export function reopen(history: History, held: (Change & Place) | null): History {
  if (held === null) return EMPTY
  if (history.open === held) return history
  let at = history.end
  while (at >= history.start && fromAt(history, at) >= held.fromMs) at = count(at - 1)
  return at < history.start
    ? { ...history, end: history.start, open: held }
    : extend(backTo(history, at), held)
}
