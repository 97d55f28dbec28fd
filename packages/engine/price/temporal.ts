/**
 * The five-minute duration-weighted median of a pool's own price (R-temporal-1, R-temporal-2): what a sudden move is
 * measured against.
 *
 * Changes follow one another without a gap, each holding until the next. Those that have ended lie on a tape that all
 * histories of a pool share, each seeing its own part: to follow a block costs one more place on it, however long the
 * window, and a history never changes: the journal may keep the old one. Changes are not kept in order of their ratio.
 * The median moves little from one read to the next, so the last one found is tried first. How long ratios below it held
 * is known from then: only what has come and gone since is looked at to know it again.
 */
import { assert } from '../assert.ts'
import type { Fraction } from '../exact/ratio.ts'
import * as ratio from '../exact/ratio.ts'
import { asNear, type Count, count, type Ms, ms, type Near, type Sign } from '../units.ts'
import { compareTo, NOWHERE, type Place, Tally } from './tally.ts'

/** A block-final marginal ratio in canonical orientation, held from `fromMs` up to the next. */
export type Change = { readonly fromMs: Ms; readonly ratio: Fraction }

/** Side by side, oldest first; `median` is the last one found, by whichever history. */
type Tape = {
  readonly fromMs: Ms[]
  readonly ratios: Fraction[]
  readonly nears: Near[]
  median: Tally | null
}

export type History = {
  /** Of which this history has what stands in [start, end). */
  readonly tape: Tape
  readonly start: Count
  readonly end: Count
  /** What holds until further notice; null before the first. */
  readonly open: (Change & Place) | null
}

export type Reference =
  | { readonly median: Fraction; readonly near: Near; readonly coveredMs: Ms }
  | { readonly reason: 'INSUFFICIENT_HISTORY'; readonly coveredMs: Ms }

export const EMPTY: History = {
  tape: { fromMs: [], ratios: [], nears: [], median: null },
  start: count(0),
  end: count(0),
  open: null,
}

export const WINDOW_MS = ms(300_000)
const HALF_MS = ms(WINDOW_MS / 2)

/** A shorter tape is copied to its very length: thousands are kept, and one that grows in place takes half as much again. */
const SHORT = 16

/** So often the next ratio is tried for the median, before all are put in order. */
const MOST_TRIES = 4

/**
 * The ratio at the end of a block. Of blocks with the same time only the last counts, and a ratio equal to
 * the one before is not a change. What ended before the window of `timeMs` is dropped, so a history
 * never holds more than the distinct block times of five minutes and one.
 */
export function append(history: History, timeMs: Ms, value: Fraction): History {
  const { tape, start, end, open } = history
  const near = ratio.near(value)
  if (open === null) return { ...EMPTY, open: { fromMs: timeMs, ratio: value, near } }
  if (ratio.compareNear(open.near, near) === 0 && ratio.compareExactly(open.ratio, value) === 0)
    return history
  if (timeMs > open.fromMs) return extend(history, open, { fromMs: timeMs, ratio: value, near })

  // A chain's time does not run back; if a block says so it is taken as the same time.
  const previous = tape.ratios[end - 1]
  if (end === start || previous === undefined || ratio.compare(previous, value) !== 0)
    return { ...history, open: { fromMs: open.fromMs, ratio: value, near } }
  const last = count(end - 1)
  return { ...history, end: last, open: { fromMs: fromAt(history, last), ...placeAt(history, last) } }
}

/** The history with these changes, oldest first: how a stored one is read back. */
export function restore(changes: readonly Change[]): History {
  return changes.reduce((history, change) => append(history, change.fromMs, change.ratio), EMPTY)
}

/** All changes, oldest first. */
export function changesOf({ tape, start, end, open }: History): Change[] {
  if (open === null) return []
  const changes: Change[] = []
  for (let at = start; at < end; at++)
    changes.push({ fromMs: tape.fromMs[at] as Ms, ratio: tape.ratios[at] as Fraction })
  return [...changes, { fromMs: open.fromMs, ratio: open.ratio }]
}

/** The median over (t − 300,000, t]: the first ratio where twice the time at or below it reaches the window. */
export function reference(history: History, t: Ms): Reference {
  const toMs = clamp(history, t)
  const coveredMs = covered(history, toMs)
  if (coveredMs < WINDOW_MS) return { reason: 'INSUFFICIENT_HISTORY', coveredMs }
  const { ratio: median, near } = medianAt(history, toMs)
  return { median, near, coveredMs: WINDOW_MS }
}

/** From when on the whole window before a read is known; null before the first change. */
export function coveredFrom(history: History): Ms | null {
  const { open } = history
  if (open === null) return null
  const sinceMs = ms(fromAt(history, history.start) + WINDOW_MS)
  // A read from before the newest change counts as made when it began.
  return open.fromMs >= sinceMs ? ms(Number.NEGATIVE_INFINITY) : sinceMs
}

/**
 * The earliest time after `t` at which `reference` gives another outcome if nothing is appended; null if
 * none does. Time moves weight from the oldest ratios to the newest and no other way, so the median walks
 * towards the newest ratio and never turns: one after the other the oldest leave, until it has given way.
 * `now` is what `reference` gives at `t`.
 */
export function nextFlip(history: History, t: Ms, now = reference(history, t)): Ms | null {
  const { start, end, open } = history
  if (open === null) return null
  if ('reason' in now) return ms(fromAt(history, start) + WINDOW_MS)

  const median = { ratio: now.median, near: now.near }
  const sign = compareAt(history, end, median)
  if (sign === 0) return null
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

/** The oldest that reaches into the window. */
function firstIn(history: History, toMs: Ms): Count {
  const sinceMs = toMs - WINDOW_MS
  let at = history.start
  while (at < history.end && untilAt(history, at) <= sinceMs) at++
  return at
}

/** The next ratio on a side of a place, of those in the window. */
function neighbourOf(history: History, toMs: Ms, place: Place, side: Sign): Count {
  const { tape, end } = history
  let nearest = NOWHERE
  let most = asNear(Number.NaN)
  for (let at = firstIn(history, toMs); at <= end; at++) {
    const near = at < end ? (tape.nears[at] as Near) : nearAt(history, end)
    // Nearly all are surely on the other side, or beyond the nearest.
    if (ratio.compareNear(near, place.near) === -side || ratio.compareNear(near, most) === side) continue
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

function fromAt({ tape, end, open }: History, at: Count): Ms {
  return at < end ? (tape.fromMs[at] as Ms) : (open as Change).fromMs
}

/** Of one that has ended. */
const untilAt = (history: History, at: Count): Ms => fromAt(history, count(at + 1))

function ratioAt({ tape, end, open }: History, at: Count): Fraction {
  return at < end ? (tape.ratios[at] as Fraction) : (open as Change).ratio
}

function nearAt({ tape, end, open }: History, at: Count): Near {
  return at < end ? (tape.nears[at] as Near) : (open as Place).near
}

const placeAt = (history: History, at: Count): Place => ({
  ratio: ratioAt(history, at),
  near: nearAt(history, at),
})

const compareAt = (history: History, at: Count, place: Place): Sign =>
  compareTo(place, ratioAt(history, at), nearAt(history, at))

/** Another ratio from then on: what held has ended, and what ended before the window is dropped. */
function extend(history: History, open: Change & Place, next: Change & Place): History {
  const start = firstIn(history, next.fromMs)
  const tape = withEnded(history, start, open)
  const isSame = tape === history.tape
  return {
    tape,
    start: isSame ? start : count(0),
    end: count(history.end + 1 - (isSame ? 0 : start)),
    open: next,
  }
}

/** The tape with what has ended behind the history's own part: the same one, or a new one that begins at `start`. */
function withEnded({ tape, end }: History, start: Count, ended: Change & Place): Tape {
  const kept = end - start
  // After a block was taken back, the tape may go on: with the same, or with what never was.
  if (tape.fromMs[end] === ended.fromMs && tape.ratios[end] === ended.ratio) return tape
  if (end === tape.fromMs.length && kept >= SHORT && kept >= start) {
    tape.fromMs.push(ended.fromMs)
    tape.ratios.push(ended.ratio)
    tape.nears.push(ended.near)
    return tape
  }
  const copied = <Item>(list: readonly Item[], item: Item): Item[] =>
    (start === 0 ? list : list.slice(start)).toSpliced(kept, list.length, item)
  return {
    fromMs: copied(tape.fromMs, ended.fromMs),
    ratios: copied(tape.ratios, ended.ratio),
    nears: copied(tape.nears, ended.near),
    median: tape.median === null ? null : new Tally(tape.median.place),
  }
}
