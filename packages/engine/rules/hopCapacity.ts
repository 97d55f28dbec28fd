/**
 * L_e: the amount in dollars that a hop can take, from its depth in Y and the value of Y. While the average of its
 * depth still climbs, it grows with time alone.
 */
import { firstFrom } from '../exact/firstFrom.ts'
import type { Fraction } from '../exact/fraction.ts'
import { type Ms, ms } from '../units.ts'
import * as depthAverage from './depthAverage.ts'
import { depthScore } from './depthScore.ts'
import { FOREVER, type Timed } from './timed.ts'

/** How often depth that still climbs is evaluated again. */
export const CLIMBING_MS = 60_000

/** The window of the average is this many times as long: 1 − exp(−1/30) is less than 1/30. */
const CLIMBING_PARTS = 30n

/** ⌊units × value of one unit⌋ in microdollars: depth never rounds up. */
export const microusd = (units: bigint, { num, den }: Fraction): bigint => (units * num) / den

export type Depth = {
  /** L_Y, the present depth; null when unknown. */
  readonly depthY: bigint | null
  readonly average: depthAverage.DepthAverage | null
}

/** L_eff in Y; null before the first depth. */
export const effectiveY = ({ depthY, average }: Depth, atMs: Ms): bigint | null =>
  average === null || depthY === null ? null : lesser(depthY, depthAverage.effective(average, atMs))

/** `leastMicrousd` is the depth a hop needs to count: a bound like those of the bands. */
export function hopCapacity(
  depth: Depth,
  unitMicrousd: Fraction | null,
  leastMicrousd: bigint,
  atMs: Ms,
): Timed<bigint | null> {
  const { depthY, average } = depth
  const effective = effectiveY(depth, atMs)
  const value = effective === null || unitMicrousd === null ? null : microusd(effective, unitMicrousd)
  if (depthY === null || average === null || effective === null || depthAverage.isFull(average))
    return { value, untilMs: FOREVER }
  const isClimbing =
    depthAverage.isFarBelow(effective, depthY) || isBelowBand(value, depthY, unitMicrousd, leastMicrousd)
  if (!isClimbing) return { value, untilMs: FOREVER }
  // The value with which the hop counts; zero never does.
  const least = leastMicrousd > 1n ? leastMicrousd : 1n
  // Bands wait for the minute. If they reacted at once, they would follow liquidity that is present only until the
  // next block.
  const isShort = value !== null && unitMicrousd !== null && value < least
  const units = isShort ? unitsOf(least, unitMicrousd) : null
  const isReached = units !== null && units <= depthY
  return { value, untilMs: isReached ? reachedAt(average, effective, units, atMs) : ms(atMs + CLIMBING_MS) }
}

/** The least number of units whose value, rounded down, reaches `worth`. */
export const unitsOf = (worth: bigint, { num, den }: Fraction): bigint => (worth * den + num - 1n) / num

/** When the average, which only climbs, first reaches this many units, if that is before the next evaluation. */
function reachedAt(average: depthAverage.DepthAverage, effective: bigint, units: bigint, atMs: Ms): Ms {
  const lastMs = ms(atMs + CLIMBING_MS)
  // In so short a time the average closes at most this share of the gap, so most cases need no search.
  const most = effective + (average.l - effective) / CLIMBING_PARTS + 1n
  if (most < units || depthAverage.effective(average, lastMs) < units) return lastMs
  return firstFrom(atMs, lastMs, t => depthAverage.effective(average, t) >= units)
}

/** Even the last thousandth counts when it leads into another band. */
function isBelowBand(
  capacity: bigint | null,
  depthY: bigint,
  unitMicrousd: Fraction | null,
  leastMicrousd: bigint,
): boolean {
  if (capacity === null || unitMicrousd === null) return false
  const full = microusd(depthY, unitMicrousd)
  return depthScore(full) > depthScore(capacity) || (capacity < leastMicrousd && full >= leastMicrousd)
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)
