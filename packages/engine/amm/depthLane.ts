/** The running sums of one direction. A depth index has two lanes. */
import type { Tick } from '../units.ts'

/**
 * One direction. The first and last entry are the ends of the window, which need not be stops: a query ends inside
 * the window, so they are never passed.
 */
export type Lane = {
  ticks: Tick[]
  pricesX96: bigint[]
  /** Liquidity of the segment that starts here; the last entry is unused. */
  liquidity: bigint[]
  /** Gross input of all segments below. */
  sums: bigint[]
}

export function emptyLane(): Lane {
  return { ticks: [], pricesX96: [], liquidity: [], sums: [] }
}
