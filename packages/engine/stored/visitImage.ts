/**
 * A pool's moment as plain values. The approximations of its ratios are derived again; the closest ratio is mostly
 * the one that held.
 */
import type { Visit } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import { placeOf } from '../memory/temporalTape.ts'
import type { Change } from '../rules/temporalWindow.ts'

export type VisitImage = Pick<Visit, 'sinceMs' | 'timeMs' | 'leastY' | 'average'> & {
  readonly held: Change | null
  readonly median: Fraction | null
  /** Null: the one that held. */
  readonly nearest: Fraction | null
}

export function visitImage({ held, median, nearest, ...plain }: Visit): VisitImage {
  return {
    ...plain,
    held: held === null ? null : { fromMs: held.fromMs, ratio: held.ratio },
    median: median?.ratio ?? null,
    nearest: nearest === held ? null : (nearest?.ratio ?? null),
  }
}

export function visitFrom({ held, median, nearest, ...plain }: VisitImage): Visit {
  const holding = held === null ? null : { fromMs: held.fromMs, ...placeOf(held.ratio) }
  return {
    ...plain,
    held: holding,
    median: median && placeOf(median),
    nearest: nearest === null ? holding : placeOf(nearest),
  }
}
