/** The range of ticks, and search in an ascending list of distinct ones. */
import { type Count, type Tick, tick as toTick } from '../units.ts'

/** The first and last tick whose price is between 2^-128 and 2^128. */
export const MIN_TICK = toTick(-887272)
export const MAX_TICK = toTick(887272)

/** The position of the greatest of the ascending `ticks` at or below `tick`, -1 if there is none. */
export function positionAtOrBelow(ticks: readonly Tick[], tick: Tick): Count | -1 {
  let low = 0
  let high = ticks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ticks[middle] as Tick) <= tick) low = middle + 1
    else high = middle
  }
  return (low - 1) as Count | -1
}
