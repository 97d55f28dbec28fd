/**
 * A pool's moment: opened by the first block of its time that touches the pool, entered with the state before it, and
 * told of every state that its events visit (R-visit-1, R-visit-2). It needs no end: a later time opens the next one.
 */
import type { PoolState, Visit } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { reference } from '../memory/tapeMedian.ts'
import type { Place } from '../memory/temporalTape.ts'
import { bookedSince, isMedianOld, nearer } from '../rules/visit.ts'
import { type Ms, ms } from '../units.ts'

/** The pool's moment at a block's time: the one that is still open, or the next. */
export function visitAt(before: PoolState, blockMs: Ms, blockTimeMs: Ms): Visit {
  const { visit, history, average } = before
  if (visit !== null && blockMs <= visit.timeMs) return visit
  const lastMs = lastTouchedMs(before)
  // A chain's time does not run back; if a block says so it is taken as the same time.
  const timeMs = ms(Math.max(lastMs, blockMs))
  return {
    sinceMs: bookedSince(lastMs, timeMs, blockTimeMs),
    timeMs,
    leastY: before.depthY ?? 0n,
    nearest: history.open,
    average,
    held: history.open,
    median: isMedianOld(lastMs, timeMs) ? null : medianAt(before, lastMs),
  }
}

/** One more state was visited. A pool that is not live has no ratio, and a depth of nothing; so has one of unknown depth. */
export function visited(visit: Visit, depthY: bigint | null, ratio: Fraction | null): Visit {
  const leastY = (depthY ?? 0n) < visit.leastY ? (depthY ?? 0n) : visit.leastY
  const { median, nearest } = visit
  const place = ratio === null || median === null ? null : { ratio, near: fraction.near(ratio) }
  const next =
    place === null || median === null || nearest === null ? nearest : nearer(median, nearest, place)
  return leastY === visit.leastY && next === nearest ? visit : { ...visit, leastY, nearest: next }
}

/** The pool's last moment; before any, when its history began. A state stored by a version before has only the latter. */
function lastTouchedMs({ visit, changed, average }: PoolState): Ms {
  return visit?.timeMs ?? ms(Math.max(changed.timeMs, average?.t0 ?? 0))
}

function medianAt({ history }: PoolState, lastMs: Ms): Place | null {
  const past = reference(history, lastMs)
  return 'median' in past ? { ratio: past.median, near: past.near } : null
}
