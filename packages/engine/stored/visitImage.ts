/** A pool's moment as plain values. Where ratios are about follows from them; the nearest is mostly the one that held. */
import type { Visit } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import { near } from '../exact/fraction.ts'
import type { Place } from '../memory/temporalTape.ts'
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
  const holding = held === null ? null : { ...held, near: near(held.ratio) }
  return {
    ...plain,
    held: holding,
    median: placeOf(median),
    nearest: placeOf(nearest) ?? holding,
  }
}

const placeOf = (ratio: Fraction | null): Place | null => ratio && { ratio, near: near(ratio) }
