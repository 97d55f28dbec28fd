/**
 * Finds when time alone takes averages of depth past a bound, or moves the weighted median of pools whose averages
 * still climb. An average only ever moves towards the present depth, so bisection finds both times.
 */
import { assert } from '../assert.ts'
import { firstFrom } from '../exact/firstFrom.ts'
import { type Count, type Ms, ms } from '../units.ts'
import { type DepthAverage, effective, FORGOTTEN_MS, value } from './depthAverage.ts'
import { FOREVER } from './timed.ts'

/**
 * The first millisecond after `atMs` at which the average is on the other side of `bound`. A value on the bound is
 * not below it.
 */
export function crossesAt(average: DepthAverage, bound: bigint, atMs: Ms): Ms {
  const isBelow = value(average, atMs) < bound
  if (average.l < bound === isBelow) return FOREVER
  return firstFrom(atMs, ms(average.t0 + FORGOTTEN_MS), t => value(average, t) < bound !== isBelow)
}

/** L_Y,eff of a pool: the lesser of its depth and the average of that depth. */
export type Weighed = { readonly depthY: bigint; readonly average: DepthAverage }

/**
 * Until when the pool at `median` is certain to stay the weighted median of `sorted`. Weights never fall with time
 * alone, so the pool keeps the median as long as it would with its own side at its present weight and the other side
 * at its later weight. The result is never too late, and may be too early.
 */
export function medianHoldsUntil(sorted: readonly Weighed[], median: Count, atMs: Ms): Ms {
  const sum = (pools: readonly Weighed[], t: Ms) =>
    pools.reduce((total, pool) => total + weightAt(pool, t), 0n)
  const below = sorted.slice(0, median)
  const above = sorted.slice(median + 1)
  const own = sum(sorted.slice(median, median + 1), atMs)
  const [belowNow, aboveNow] = [sum(below, atMs), sum(above, atMs)]
  const isSure = (t: Ms) => sum(below, t) < own + aboveNow && belowNow + own >= sum(above, t)
  assert(isSure(atMs), 'this pool is not the weighted median')
  const settledMs = ms(Math.max(...sorted.map(({ average }) => average.t0)) + FORGOTTEN_MS)
  return settledMs <= atMs || isSure(settledMs) ? FOREVER : firstFrom(atMs, settledMs, t => !isSure(t))
}

export function weightAt({ depthY, average }: Weighed, t: Ms): bigint {
  const averaged = effective(average, t)
  return averaged < depthY ? averaged : depthY
}
