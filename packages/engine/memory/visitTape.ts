/**
 * The booked span of a moment on the tape of a pool's history (R-visit-4). Law: what `bookRatio` makes of the same changes.
 * A moment with several blocks is booked once for each, every time from the history as the moment was entered.
 */
import type { Fraction } from '../exact/fraction.ts'
import type { Change } from '../rules/temporalWindow.ts'
import { type Booked, bookRatio } from '../rules/visit.ts'
import { count } from '../units.ts'
import { memory } from './switch.ts'
import {
  append,
  changesOf,
  EMPTY,
  extend,
  fromAt,
  type History,
  type Place,
  placeAt,
  restore,
} from './temporalTape.ts'

/** With the span before the moment booked, and `ratio` holding from the moment on. */
export function book(history: History, booked: Booked, ratio: Fraction): History {
  if (!memory.isOn) return restore(bookRatio(changesOf(history), booked, ratio))
  const { sinceMs, timeMs, nearest } = booked
  return append(nearest === null ? EMPTY : append(history, sinceMs, nearest.ratio), timeMs, ratio)
}

/** As it was when `held` was what held: whatever was booked and appended since is taken off, and what had merged parts. */
export function reopen(history: History, held: (Change & Place) | null): History {
  if (held === null) return EMPTY
  if (history.open === held) return history
  let { end, open } = history
  while (open !== null && open.fromMs >= held.fromMs) {
    const isFirst = end === history.start
    if (!isFirst) end = count(end - 1)
    open = isFirst ? null : { fromMs: fromAt(history, end), ...placeAt(history, end) }
  }
  const before = { ...history, end, open }
  return open === null ? { ...before, open: held } : extend(before, open, held)
}
