/**
 * What a block visits (R-visit): the span before a moment counts with the least depth the moment visited and with the
 * visited ratio nearest to the median before it. Liquidity, or a price, that is there only at the ends of blocks earns nothing.
 *
 * Booking changes only the span before the moment. What lies before that span is never written again.
 */
import * as fraction from '../exact/fraction.ts'
import type { Fraction } from '../exact/fraction.ts'
import { type Ms, ms, type Near } from '../units.ts'
import * as depthAverage from './depthAverage.ts'
import type { DepthAverage } from './depthAverage.ts'
import { type Change, WINDOW_MS } from './temporalWindow.ts'

/** A ratio, and about where it is. */
type Place = { readonly ratio: Fraction; readonly near: Near }

/** The span before a moment and what it counts with; it ends where the moment is. */
export type Booked = {
  readonly sinceMs: Ms
  readonly timeMs: Ms
  readonly leastY: bigint
  /** Null: the pool had no ratio before. */
  readonly nearest: Place | null
}

/** Blocks tell their time in whole seconds, so a chain of shorter block times books a second. */
const SECOND_MS = 1000

/** Where the booked span begins: a block time before the moment, but not before the pool's last one. */
export function bookedSince(lastMs: Ms, timeMs: Ms, blockTimeMs: Ms): Ms {
  const spanMs = Math.ceil(blockTimeMs / SECOND_MS) * SECOND_MS
  return ms(Math.max(lastMs, timeMs - spanMs))
}

/** The median found at a pool's last moment says nothing about a moment after its whole window. */
export const isMedianOld = (lastMs: Ms, timeMs: Ms): boolean => timeMs - lastMs > WINDOW_MS

/** Which of two ratios is fewer dev_bps from the median; as many: the lower. */
export function nearer<Each extends Place>(median: Place, one: Each, other: Each): Each {
  const order = compare(one, other)
  if (order === 0) return one
  const [low, high] = order < 0 ? [one, other] : [other, one]
  if (compare(high, median) <= 0) return high
  if (compare(low, median) >= 0) return low
  // Between them: median / low ≤ high / median, and the lower where the two are equal.
  const sign =
    fraction.compareNear(
      fraction.nearProduct(median.near, median.near),
      fraction.nearProduct(low.near, high.near),
    ) ||
    fraction.compareExactly(fraction.times(median.ratio, median.ratio), fraction.times(low.ratio, high.ratio))
  return sign <= 0 ? low : high
}

const compare = (a: Place, b: Place) =>
  fraction.compareNear(a.near, b.near) || fraction.compareExactly(a.ratio, b.ratio)

/**
 * The average at the end of a moment that was entered with `entered`; `depthY` holds from there. A least depth that is the one
 * held all the time books nothing: the whole time is then one span, and is rounded once.
 */
export function bookDepth(entered: DepthAverage, booked: Booked, depthY: bigint): DepthAverage {
  const { sinceMs, timeMs, leastY } = booked
  const held = leastY === entered.l ? entered : depthAverage.change(entered, leastY, sinceMs)
  return depthAverage.change(held, depthY, timeMs)
}

/**
 * The ratios a pool has had, with the booked span and what holds from the moment on. `changes` are those before the moment.
 * The slow and plain form: `memory/visitTape.ts` has the other.
 */
export function bookRatio(changes: readonly Change[], booked: Booked, ratio: Fraction): Change[] {
  const { sinceMs, timeMs, nearest } = booked
  const before = nearest === null ? [] : changes.filter(({ fromMs }) => fromMs < sinceMs)
  const span = nearest === null ? [] : [{ fromMs: sinceMs, ratio: nearest.ratio }]
  return merged([...before, ...span, { fromMs: timeMs, ratio }])
}

/** Of equal times the last one, and no ratio twice in a row. */
function merged(changes: readonly Change[]): Change[] {
  const kept: Change[] = []
  for (const [at, change] of changes.entries()) {
    const previous = kept.at(-1)
    if (changes[at + 1]?.fromMs === change.fromMs) continue
    if (previous === undefined || fraction.compare(previous.ratio, change.ratio) !== 0) kept.push(change)
  }
  return kept
}
