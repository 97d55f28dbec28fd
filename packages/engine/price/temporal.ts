/**
 * The five-minute duration-weighted median of a pool's own price (contract §2.6): what a sudden move is
 * measured against.
 *
 * Entries follow one another without a gap, each holding until the next begins, and `byRatio` has the same
 * entries by ascending ratio. Keeping the order costs an append a few comparisons; a read then compares
 * nothing and allocates nothing. A history is never changed: the journal may keep the old one.
 */
import type { Fraction } from '../exact/ratio.ts'
import * as ratio from '../exact/ratio.ts'
import { type Count, count, type Ms, ms, type Sign } from '../units.ts'
import { devBpsAtMost } from './weightedMedian.ts'

/** A block-final marginal ratio in canonical orientation, held from `fromMs` up to `untilMs`. */
export type Entry = { readonly fromMs: Ms; readonly untilMs: Ms; readonly ratio: Fraction }

export type History = {
  /** Oldest first; the last one holds until further notice. */
  readonly entries: readonly Entry[]
  readonly byRatio: readonly Entry[]
}

export type Reference =
  | { readonly median: Fraction; readonly coveredMs: Ms }
  | { readonly reason: 'INSUFFICIENT_HISTORY'; readonly coveredMs: Ms }

export const EMPTY: History = { entries: [], byRatio: [] }

export const WINDOW_MS = ms(300_000)
const HALF_MS = ms(WINDOW_MS / 2)

/** The end of an entry that still holds. */
const OPEN_MS = ms(Number.MAX_SAFE_INTEGER)

/**
 * The ratio at the end of a block. Of blocks with the same time only the last counts, and a ratio equal to
 * the one before is not a change. Entries that ended before the window of `timeMs` are dropped, so a history
 * never holds more than the distinct block times of five minutes and one.
 */
export function append(history: History, timeMs: Ms, value: Fraction): History {
  const last = history.entries.at(-1)
  if (last === undefined) return single({ fromMs: timeMs, untilMs: OPEN_MS, ratio: value })
  if (ratio.compare(last.ratio, value) === 0) return history
  if (timeMs > last.fromMs) return extend(history, last, { fromMs: timeMs, untilMs: OPEN_MS, ratio: value })

  // A chain's time does not run back; if a block says so it is taken as the same time.
  const entry: Entry = { fromMs: last.fromMs, untilMs: OPEN_MS, ratio: value }
  const previous = history.entries.at(-2)
  if (previous === undefined) return single(entry)
  if (ratio.compare(previous.ratio, value) === 0) return retract(history, last, previous)
  return {
    entries: history.entries.toSpliced(-1, 1, entry),
    byRatio: inserted(without(history.byRatio, last), entry),
  }
}

/** The history with these changes, oldest first: how a stored one is read back. */
export function restore(changes: readonly { readonly fromMs: Ms; readonly ratio: Fraction }[]): History {
  return changes.reduce((history, change) => append(history, change.fromMs, change.ratio), EMPTY)
}

/** The median over (t − 300,000, t]: the first ratio where twice the time at or below it reaches the window. */
export function reference(history: History, t: Ms): Reference {
  const toMs = clamp(history, t)
  const coveredMs = covered(history, toMs)
  if (coveredMs < WINDOW_MS) return { reason: 'INSUFFICIENT_HISTORY', coveredMs }
  return { median: (history.byRatio[medianAt(history, toMs)] as Entry).ratio, coveredMs: WINDOW_MS }
}

/** Whether the whole window before `t` is known. */
export const isCovered = (history: History, t: Ms): boolean =>
  covered(history, clamp(history, t)) >= WINDOW_MS

/** Whether no ratio kept is further than `bps` from `value`: then neither is any median of them. */
export function isWithin({ byRatio }: History, value: Fraction, bps: bigint): boolean {
  const lowest = byRatio[0]
  const highest = byRatio.at(-1)
  return (
    lowest !== undefined &&
    highest !== undefined &&
    devBpsAtMost(lowest.ratio, value, bps) &&
    (lowest === highest || devBpsAtMost(highest.ratio, value, bps))
  )
}

/**
 * The earliest time after `t` at which `reference` gives another outcome if nothing is appended; null if
 * none does. Time moves weight from the oldest ratios to the newest and no other way, so the median walks
 * towards the newest ratio and never turns: the entry during whose leaving it gives way is found by
 * bisection, the moment by subtraction.
 */
export function nextFlip(history: History, t: Ms): Ms | null {
  const { entries, byRatio } = history
  const newest = entries.at(-1)
  if (newest === undefined) return null
  const nowMs = clamp(history, t)
  if (covered(history, nowMs) < WINDOW_MS) return ms((entries[0] as Entry).fromMs + WINDOW_MS)

  const median = (byRatio[medianAt(history, nowMs)] as Entry).ratio
  const sign = ratio.compare(newest.ratio, median)
  if (sign === 0) return null
  // A rising median gives way when less than half is at or below it, a falling one when half is below it.
  const end = rank(byRatio, median, sign > 0 ? 1 : 0)
  const missingMs = (atMs: Ms): Ms => {
    const heldMs = held(history, end, atMs)
    return ms(sign > 0 ? heldMs - HALF_MS + 1 : HALF_MS - heldMs)
  }

  // With the last closed entry gone only the newest is left, so the median has given way by then.
  let first = 0
  let last = entries.length - 2
  while (first < last) {
    const middle = (first + last) >> 1
    if (missingMs(ms((entries[middle] as Entry).untilMs + WINDOW_MS)) <= 0) last = middle
    else first = middle + 1
  }
  // All through that entry's leaving one millisecond was gained in each, so what is left over counts back.
  const goneMs = ms((entries[first] as Entry).untilMs + WINDOW_MS)
  return ms(goneMs + missingMs(goneMs))
}

/** A read from before the newest entry (a block ahead of our clock) counts as made when it began. */
function clamp(history: History, t: Ms): Ms {
  const newest = history.entries.at(-1)
  return newest === undefined || t > newest.fromMs ? t : newest.fromMs
}

function covered(history: History, toMs: Ms): Ms {
  const oldest = history.entries[0]
  if (oldest === undefined) return ms(0)
  return toMs - oldest.fromMs < WINDOW_MS ? ms(toMs - oldest.fromMs) : WINDOW_MS
}

/** The place of the median in `byRatio`. Equal ratios are neighbours, so merging them changes nothing. */
function medianAt({ byRatio }: History, toMs: Ms): Count {
  const sinceMs = toMs - WINDOW_MS
  let cumulative = 0
  let at = 0
  for (; at < byRatio.length - 1; at++) {
    const { fromMs, untilMs } = byRatio[at] as Entry
    const overlapMs = (untilMs < toMs ? untilMs : toMs) - (fromMs > sinceMs ? fromMs : sinceMs)
    if (overlapMs > 0) cumulative += overlapMs
    if (2 * cumulative >= WINDOW_MS) break
  }
  return count(at)
}

/** How long the first `end` entries by ratio held within the window that ends at `toMs`. */
function held({ byRatio }: History, end: Count, toMs: Ms): Ms {
  const sinceMs = toMs - WINDOW_MS
  let total = 0
  for (let at = 0; at < end; at++) {
    const { fromMs, untilMs } = byRatio[at] as Entry
    const overlapMs = (untilMs < toMs ? untilMs : toMs) - (fromMs > sinceMs ? fromMs : sinceMs)
    if (overlapMs > 0) total += overlapMs
  }
  return ms(total)
}

function single(entry: Entry): History {
  const entries = [entry]
  return { entries, byRatio: entries }
}

/** Closes the last entry, adds `entry`, and drops what ended before the window. */
function extend(history: History, last: Entry, entry: Entry): History {
  const closed: Entry = { fromMs: last.fromMs, untilMs: entry.fromMs, ratio: last.ratio }
  const sinceMs = entry.fromMs - WINDOW_MS
  const byRatio = history.byRatio.slice()
  byRatio[byRatio.indexOf(last)] = closed
  let dropped = 0
  for (const ended of history.entries) {
    if (ended.untilMs > sinceMs) break
    byRatio.splice(byRatio.indexOf(ended), 1)
    dropped++
  }
  byRatio.splice(rank(byRatio, entry.ratio, 1), 0, entry)
  const entries = history.entries.slice(dropped, -1)
  entries.push(closed, entry)
  return { entries, byRatio }
}

/** Takes the last entry back: the one before it goes on. */
function retract(history: History, last: Entry, previous: Entry): History {
  const reopened: Entry = { fromMs: previous.fromMs, untilMs: OPEN_MS, ratio: previous.ratio }
  const byRatio = without(history.byRatio, last)
  return {
    entries: history.entries.toSpliced(-2, 2, reopened),
    byRatio: byRatio.with(byRatio.indexOf(previous), reopened),
  }
}

function without(byRatio: readonly Entry[], entry: Entry): Entry[] {
  return byRatio.toSpliced(byRatio.indexOf(entry), 1)
}

function inserted(byRatio: readonly Entry[], entry: Entry): Entry[] {
  return byRatio.toSpliced(rank(byRatio, entry.ratio, 1), 0, entry)
}

/** How many entries have a ratio below `value` (bound 0), or at or below it (bound 1). */
function rank(byRatio: readonly Entry[], value: Fraction, bound: Sign): Count {
  let low = 0
  let high = byRatio.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ratio.compare((byRatio[middle] as Entry).ratio, value) < bound) low = middle + 1
    else high = middle
  }
  return count(low)
}
