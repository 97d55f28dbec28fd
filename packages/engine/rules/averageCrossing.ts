/**
 * When time alone takes averages of depth past a bound, or moves the weighted median of pools whose averages still climb.
 * An average only ever walks towards the depth of now, so both are found by halving an interval.
 */
import { assert } from '../assert.ts'
import { type Count, type Ms, ms } from '../units.ts'
import { type DepthAverage, effective, FORGOTTEN_MS, value } from './depthAverage.ts'
import { FOREVER } from './timed.ts'

/** The first millisecond after `atMs` at which the average is on the other side of `bound`; a value on it is not below. */
export function crossesAt(average: DepthAverage, bound: bigint, atMs: Ms): Ms {
  const isBelow = value(average, atMs) < bound
  if (average.l < bound === isBelow) return FOREVER
  return firstAt(atMs, ms(average.t0 + FORGOTTEN_MS), t => value(average, t) < bound !== isBelow)
}

/** L_Y,eff of a pool: the lesser of its depth and the average of it. */
export type Weighed = { readonly depthY: bigint; readonly average: DepthAverage }

/**
 * Until when the pool at `median` surely stays the weighted median of `sorted`. Weights never fall by themselves, so it does
 * while it would with its own side as light as now and the other as heavy as then: never too late, and perhaps too early.
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
  return settledMs <= atMs || isSure(settledMs) ? FOREVER : firstAt(atMs, settledMs, t => !isSure(t))
}

export function weightAt({ depthY, average }: Weighed, t: Ms): bigint {
  const averaged = effective(average, t)
  return averaged < depthY ? averaged : depthY
}

/** The first millisecond in (afterMs, byMs] from which on something holds that holds at `byMs` and not at `afterMs`. */
function firstAt(afterMs: Ms, byMs: Ms, holds: (t: Ms) => boolean): Ms {
  let [not, then] = [afterMs, byMs]
  while (then - not > 1) {
    const middle = ms(Math.floor((not + then) / 2))
    if (holds(middle)) then = middle
    else not = middle
  }
  return then
}
