/**
 * The ratios a pool has had, each holding from its block until the next. Ratios that have ended are on a tape that
 * all histories of a pool share, each seeing its own part. Following a block costs one more entry on the tape,
 * however long the window, and a history never changes, so the journal may keep the old one.
 */
import { comparePlaces, type Fraction, type Place } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { type Change, WINDOW_MS } from '../rules/temporalWindow.ts'
import { type Count, count, type Ms, type Approx, type Sign } from '../units.ts'

export const placeOf = (ratio: Fraction): Place => ({ ratio, approx: fraction.approx(ratio) })

/** Parallel arrays, oldest first; `median` is the last one found through any history. */
type Tape = {
  readonly fromMs: Ms[]
  readonly ratios: Fraction[]
  readonly approxes: Approx[]
  median: Place | null
}

export type History = {
  /** This history covers its elements in [start, end). */
  readonly tape: Tape
  readonly start: Count
  readonly end: Count
  /** The ratio that holds at present; null before the first. */
  readonly open: (Change & Place) | null
}

export const EMPTY: History = {
  tape: { fromMs: [], ratios: [], approxes: [], median: null },
  start: count(0),
  end: count(0),
  open: null,
}

/**
 * A shorter tape is copied to its exact length: thousands are kept, and one that grows in place takes half as much
 * again.
 */
const SHORT = 16

/**
 * Appends the ratio at the end of a block. Of blocks with the same time only the last counts, and a ratio equal to
 * the previous one is not a change. Ratios that ended before the window of `timeMs` are dropped, so a history never
 * holds more than the distinct block times of five minutes, plus one.
 */
export function append(history: History, timeMs: Ms, value: Fraction): History {
  const { tape, start, end, open } = history
  const approx = fraction.approx(value)
  if (open === null) return { ...EMPTY, open: { fromMs: timeMs, ratio: value, approx } }
  if (comparePlaces(open, { ratio: value, approx }) === 0) return history
  if (timeMs > open.fromMs) return extend(history, { fromMs: timeMs, ratio: value, approx })

  // Chain time does not run backwards. If a block claims that it does, use the previous time.
  const previous = tape.ratios[end - 1]
  if (end === start || previous === undefined || fraction.compare(previous, value) !== 0)
    return { ...history, open: { fromMs: open.fromMs, ratio: value, approx } }
  return backTo(history, count(end - 1))
}

/** The history up to one of its ratios, which holds again. */
export const backTo = (history: History, at: Count): History => ({
  ...history,
  end: at,
  open: { fromMs: fromAt(history, at), ...placeAt(history, at) },
})

/** The history with these changes, oldest first, used to restore a stored one. */
export function restore(changes: readonly Change[]): History {
  return changes.reduce((history, change) => append(history, change.fromMs, change.ratio), EMPTY)
}

/** All changes, oldest first. */
export function changesOf(history: History): Change[] {
  const { length, itemAt } = momentsOf(history)
  return Array.from({ length }, (_, at) => itemAt(count(at)))
}

/** The changes by their places, oldest first, for a caller that needs few of them. */
export function momentsOf(history: History) {
  const { start, end, open } = history
  const fromMsAt = (at: Count): Ms => fromAt(history, count(start + at))
  const valueAt = (at: Count): Fraction => ratioAt(history, count(start + at))
  return {
    length: count(open === null ? 0 : end - start + 1),
    fromMsAt,
    valueAt,
    itemAt: (at: Count): Change => ({ fromMs: fromMsAt(at), ratio: valueAt(at) }),
  }
}

/** The part of a tape that both histories cover: where it begins in each, and its length; 0 on different tapes. */
export function commonPart(a: History, b: History) {
  const first = Math.max(a.start, b.start)
  const length = a.tape === b.tape ? Math.min(a.end, b.end) - first : 0
  return length > 0
    ? { at: count(first - a.start), from: count(first - b.start), known: count(length) }
    : undefined
}

/** The oldest that reaches into the window. */
export function firstIn(history: History, toMs: Ms): Count {
  const sinceMs = toMs - WINDOW_MS
  let at = history.start
  while (at < history.end && untilAt(history, at) <= sinceMs) at++
  return at
}

export function fromAt({ tape, end, open }: History, at: Count): Ms {
  return at < end ? (tape.fromMs[at] as Ms) : (open as Change).fromMs
}

/** The end of a ratio that no longer holds. */
export const untilAt = (history: History, at: Count): Ms => fromAt(history, count(at + 1))

function ratioAt({ tape, end, open }: History, at: Count): Fraction {
  return at < end ? (tape.ratios[at] as Fraction) : (open as Change).ratio
}

export function approxAt({ tape, end, open }: History, at: Count): Approx {
  return at < end ? (tape.approxes[at] as Approx) : (open as Place).approx
}

export const placeAt = (history: History, at: Count): Place => ({
  ratio: ratioAt(history, at),
  approx: approxAt(history, at),
})

/** Compares a ratio with a place; -1 is below. */
export function compareAt(history: History, at: Count, place: Place): Sign {
  const sign = fraction.compareApprox(approxAt(history, at), place.approx)
  if (sign !== 0) return sign
  const own = ratioAt(history, at)
  return own === place.ratio ? 0 : fraction.compareExactly(own, place.ratio)
}

/**
 * Another ratio holds from then on: the previous one has ended, and ratios that ended before the window are dropped.
 */
export function extend(history: History, next: Change & Place): History {
  const start = firstIn(history, next.fromMs)
  const tape = withEnded(history, start, history.open as Change & Place)
  const isSame = tape === history.tape
  return {
    tape,
    start: isSame ? start : count(0),
    end: count(history.end + 1 - (isSame ? 0 : start)),
    open: next,
  }
}

/** The tape with the ended ratio after the history's own part: the same tape, or a new one that begins at `start`. */
function withEnded({ tape, end }: History, start: Count, ended: Change & Place): Tape {
  const kept = end - start
  // After a block was undone, the tape may continue with the same ratio, or with one from an orphaned block.
  if (tape.fromMs[end] === ended.fromMs && tape.ratios[end] === ended.ratio) return tape
  if (end === tape.fromMs.length && kept >= SHORT && kept >= start) {
    tape.fromMs.push(ended.fromMs)
    tape.ratios.push(ended.ratio)
    tape.approxes.push(ended.approx)
    return tape
  }
  const copied = <Item>(list: readonly Item[], item: Item): Item[] =>
    (start === 0 ? list : list.slice(start)).toSpliced(kept, list.length, item)
  return {
    fromMs: copied(tape.fromMs, ended.fromMs),
    ratios: copied(tape.ratios, ended.ratio),
    approxes: copied(tape.approxes, ended.approx),
    median: tape.median,
  }
}
