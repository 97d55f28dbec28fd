/**
 * L_e: what a hop can take in dollars, from its depth in Y and what Y is worth. While the average of its depth still climbs,
 * it grows with time alone.
 */
import type { Fraction } from '../exact/fraction.ts'
import { type Ms, ms } from '../units.ts'
import * as depthAverage from './depthAverage.ts'
import { depthScore } from './depthScore.ts'
import { FOREVER, type Timed } from './timed.ts'

/** How often depth that still climbs is looked at again. */
export const CLIMBING_MS = 60_000

/** The window of the average is so many times that long: 1 − exp(−1/30) is less than 1/30. */
const CLIMBING_PARTS = 30n

/** ⌊units × what one is worth⌋ in microdollars: depth never rounds up. */
export const microusd = (units: bigint, { num, den }: Fraction): bigint => (units * num) / den

export type Depth = {
  /** L_Y, the depth of now; null where it is not known. */
  readonly depthY: bigint | null
  readonly average: depthAverage.DepthAverage | null
}

/** L_eff in Y; null before the first depth. */
export const effectiveY = ({ depthY, average }: Depth, atMs: Ms): bigint | null =>
  average === null || depthY === null ? null : lesser(depthY, depthAverage.effective(average, atMs))

/** `leastMicrousd` is what a hop needs to count: a bound like those of the bands. */
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
  const units = unitMicrousd === null ? null : unitsOfLeast(unitMicrousd, leastMicrousd)
  // Bands wait for the minute: met at once, they would follow liquidity that is there until the next block only.
  const isShort = units !== null && effective < units && units <= depthY
  return {
    value,
    untilMs: isShort ? reachedAt(average, effective, units, atMs) : ms(atMs + CLIMBING_MS),
  }
}

/** The least units that are worth so much when what they are worth is rounded down. */
export const unitsOf = (worth: bigint, { num, den }: Fraction): bigint => (worth * den + num - 1n) / num

/** The least effective depth in Y with which the hop counts; nothing never does. */
const unitsOfLeast = (unitMicrousd: Fraction, leastMicrousd: bigint): bigint =>
  unitsOf(leastMicrousd > 1n ? leastMicrousd : 1n, unitMicrousd)

/** When the average, which only climbs, will first have reached so many units, if that is before it is looked at again. */
function reachedAt(average: depthAverage.DepthAverage, effective: bigint, units: bigint, atMs: Ms): Ms {
  const lastMs = ms(atMs + CLIMBING_MS)
  // In so short a time no more than its share of the window is closed of what it lacks: most need no search.
  const most = effective + (average.l - effective) / CLIMBING_PARTS + 1n
  if (most < units || depthAverage.effective(average, lastMs) < units) return lastMs
  let [below, reached] = [atMs, lastMs]
  while (reached - below > 1) {
    const middle = ms(below + ((reached - below) >> 1))
    if (depthAverage.effective(average, middle) < units) below = middle
    else reached = middle
  }
  return reached
}

/** Even the last thousandth counts where it leads into another band. */
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
