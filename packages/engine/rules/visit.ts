/**
 * What a block visits (R-visit): the span before a moment counts with the least depth the moment visited and with the
 * visited ratio closest to the median before it. Liquidity, or a price, that is present only at the ends of blocks
 * earns nothing.
 *
 * Booking changes only the span before the moment. Earlier spans are never rewritten.
 */
import * as fraction from '../exact/fraction.ts'
import {
  comparePlaces,
  type Fraction,
  furtherFrom,
  furtherFromApprox,
  type Place,
} from '../exact/fraction.ts'
import { type Ms, ms } from '../units.ts'
import * as depthAverage from './depthAverage.ts'
import type { DepthAverage } from './depthAverage.ts'
import { type Change, WINDOW_MS } from './temporalWindow.ts'

/** The span before a moment and the values it counts with; it ends at the moment. */
export type Booked = {
  readonly sinceMs: Ms
  readonly timeMs: Ms
  readonly leastY: bigint
  /** Null when the pool had no ratio before. */
  readonly nearest: Place | null
}

/** Block timestamps are whole seconds, so a chain with shorter block times books a second. */
const SECOND_MS = 1000

/** The start of the booked span: one block time before the moment, but not before the pool's last moment. */
export function bookedSince(lastMs: Ms, timeMs: Ms, blockTimeMs: Ms): Ms {
  const spanMs = Math.ceil(blockTimeMs / SECOND_MS) * SECOND_MS
  return ms(Math.max(lastMs, timeMs - spanMs))
}

/** The median found at a pool's last moment says nothing about a moment more than a whole window later. */
export const isMedianOld = (lastMs: Ms, timeMs: Ms): boolean => timeMs - lastMs > WINDOW_MS

/** The ratio with fewer dev_bps from the median; the lower one on a tie. */
export function nearer<Each extends Place>(median: Place, one: Each, other: Each): Each {
  const order = comparePlaces(one, other)
  if (order === 0) return one
  const [low, high] = order < 0 ? [one, other] : [other, one]
  if (comparePlaces(high, median) <= 0) return high
  if (comparePlaces(low, median) >= 0) return low
  // With the median between them, the lower ratio wins a tie.
  const sign =
    furtherFromApprox(median.approx, low.approx, high.approx) ||
    furtherFrom(median.ratio, low.ratio, high.ratio)
  return sign >= 0 ? low : high
}

/**
 * The average at the end of a moment that started with `entered`; `depthY` holds from there on. A least depth equal
 * to the depth held throughout books nothing: the whole time is then one span and is rounded once.
 */
export function bookDepth(entered: DepthAverage, booked: Booked, depthY: bigint): DepthAverage {
  const { sinceMs, timeMs, leastY } = booked
  const held = leastY === entered.l ? entered : depthAverage.change(entered, leastY, sinceMs)
  return depthAverage.change(held, depthY, timeMs)
}

/**
 * The ratios a pool has had, with the booked span and the ratio that holds from the moment on. `changes` are those
 * before the moment. This is the slow and plain form; `memory/visitTape.ts` has the fast one.
 */
export function bookRatio(changes: readonly Change[], booked: Booked, ratio: Fraction): Change[] {
  const { sinceMs, timeMs, nearest } = booked
  const before = nearest === null ? [] : changes.filter(({ fromMs }) => fromMs < sinceMs)
  const span = nearest === null ? [] : [{ fromMs: sinceMs, ratio: nearest.ratio }]
  return merged([...before, ...span, { fromMs: timeMs, ratio }])
}

/** Keeps the last of equal times, and drops consecutive repetitions of a ratio. */
function merged(changes: readonly Change[]): Change[] {
  const kept: Change[] = []
  for (const [at, change] of changes.entries()) {
    const previous = kept.at(-1)
    if (changes[at + 1]?.fromMs === change.fromMs) continue
    if (previous === undefined || fraction.compare(previous.ratio, change.ratio) !== 0) kept.push(change)
  }
  return kept
}
