/**
 * A pool's moment as the fold goes along: opened by the first block of its time that touches the pool, entered with the state
 * before it, and shown every state that its events visit (R-visit-1, R-visit-2). Nothing ends it: a later time opens the
 * next one. All of it is a function of the state before and the events, so undoing a block is putting its state back.
 */
import type { PoolState, Visit } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import { reference } from '../memory/tapeMedian.ts'
import { type History, type Place, placeOf } from '../memory/temporalTape.ts'
import { book, reopen } from '../memory/visitTape.ts'
import type { DepthAverage } from '../rules/depthAverage.ts'
import { bookDepth, bookedSince, isMedianOld, nearer } from '../rules/visit.ts'
import { type Ms, ms } from '../units.ts'

/** What a moment is entered with. */
type Entered = Pick<PoolState, 'average' | 'changed' | 'depthY' | 'history' | 'visit'>

/** The pool's moment at a block's time: the one that is still open, or the next. */
export function visitAt(before: Entered, blockMs: Ms, blockTimeMs: Ms): Visit {
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
    median: isMedianOld(lastMs, timeMs) ? null : medianAt(history, lastMs),
  }
}

/** One more state was visited. One that is not live has no ratio and a depth of nothing; an unknown depth counts as that too. */
export function visited(visit: Visit, depthY: bigint | null, ratio: Fraction | null): Visit {
  const { median, nearest } = visit
  const leastY = lesser(depthY ?? 0n, visit.leastY)
  const isCompared = ratio !== null && median !== null && nearest !== null
  const next = isCompared ? nearer(median, nearest, placeOf(ratio)) : nearest
  return leastY === visit.leastY && next === nearest ? visit : { ...visit, leastY, nearest: next }
}

/**
 * What the pool has behind it once it has come to this depth and ratio. `history` is its own as of now, with whatever earlier
 * blocks of the moment put there. `start` gives the average of a pool whose depth had not been known.
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
  // While it is not live the last ratio goes on holding.
  const holding = ratio ?? held?.ratio
  return {
    visit,
    // An unknown depth says nothing of what holds from here: that waits for the next known one.
    average:
      average !== null
        ? bookDepth(average, visit, depthY ?? average.l)
        : depthY === null
          ? null
          : start(depthY, timeMs),
    history: holding === undefined ? before : book(before, visit, holding),
  }
}

/** The pool's last moment; before any, when its history began. A state stored by a version before has only the latter. */
function lastTouchedMs({ visit, changed, average }: Entered): Ms {
  return visit?.timeMs ?? ms(Math.max(changed.timeMs, average?.t0 ?? 0))
}

function medianAt(history: History, lastMs: Ms): Place | null {
  const past = reference(history, lastMs)
  return 'median' in past ? { ratio: past.median, near: past.near } : null
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)
