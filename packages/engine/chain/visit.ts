/**
 * A pool's moment during the fold. The first block of its time that touches the pool opens it with the state before
 * that block, and every state that its events visit is added to it (R-visit-1, R-visit-2). Nothing closes a moment: a
 * later time opens the next one. All of it is a function of the previous state and the events, so undoing a block
 * means restoring the state.
 */
import type { PoolState, Visit } from '../entities.ts'
import type { Fraction, Place } from '../exact/fraction.ts'
import { reference } from '../memory/tapeMedian.ts'
import { type History, placeOf } from '../memory/temporalTape.ts'
import { book, reopen } from '../memory/visitTape.ts'
import type { DepthAverage } from '../rules/depthAverage.ts'
import { bookDepth, bookedSince, isMedianOld, nearer } from '../rules/visit.ts'
import { type Ms, ms } from '../units.ts'

/** The state at the start of a moment. */
type Entered = Pick<PoolState, 'average' | 'changed' | 'depthY' | 'history' | 'visit'>

/** The pool's moment at a block's time: the one that is still open, or the next. */
export function visitAt(before: Entered, blockMs: Ms, blockTimeMs: Ms): Visit {
  const { visit, history, average } = before
  if (visit !== null && blockMs <= visit.timeMs) return visit
  const lastMs = lastTouchedMs(before)
  // Chain time does not run backwards. If a block claims that it does, use the previous time.
  const timeMs = ms(Math.max(lastMs, blockMs))
  return {
    sinceMs: bookedSince(lastMs, timeMs, blockTimeMs),
    timeMs,
    leastY: before.depthY ?? 0n,
    nearest: history.open,
    average,
    held: history.open,
    median: isMedianOld(lastMs, timeMs) ? null : medianAt(history, lastMs),
  }
}

/**
 * Adds one more visited state. A state that is not live has no ratio and a depth of zero; an unknown depth counts as
 * zero too.
 */
export function visited(visit: Visit, depthY: bigint | null, ratio: Fraction | null): Visit {
  const { median, nearest } = visit
  const leastY = lesser(depthY ?? 0n, visit.leastY)
  const isCompared = ratio !== null && median !== null && nearest !== null
  const next = isCompared ? nearer(median, nearest, placeOf(ratio)) : nearest
  return leastY === visit.leastY && next === nearest ? visit : { ...visit, leastY, nearest: next }
}

/**
 * The average and history of the pool once it has this depth and ratio. `history` is the current one, with everything
 * earlier blocks of the moment added. `start` gives the average of a pool whose depth was unknown.
 */
export function passed(
  entered: Visit,
  history: History,
  depthY: bigint | null,
  ratio: Fraction | null,
  start: (depthY: bigint, timeMs: Ms) => DepthAverage,
): Pick<PoolState, 'average' | 'history' | 'visit'> {
  const visit = visited(entered, depthY, ratio)
  const { average, held, timeMs } = visit
  const before = reopen(history, held)
  // While the pool is not live, the last ratio continues to hold.
  const holding = ratio ?? held?.ratio
  return {
    visit,
    // An unknown depth sets no new value; the average waits for the next known depth.
    average:
      average !== null
        ? bookDepth(average, visit, depthY ?? average.l)
        : depthY === null
          ? null
          : start(depthY, timeMs),
    history: holding === undefined ? before : book(before, visit, holding),
  }
}

/**
 * The pool's last moment; before the first one, when its history began. A state stored by an earlier version has only
 * the latter.
 */
function lastTouchedMs({ visit, changed, average }: Entered): Ms {
  return visit?.timeMs ?? ms(Math.max(changed.timeMs, average?.t0 ?? 0))
}

function medianAt(history: History, lastMs: Ms): Place | null {
  const past = reference(history, lastMs)
  return 'median' in past ? { ratio: past.median, approx: past.approx } : null
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)
