/**
 * Decides when the history of a pool is stored whole again, under its own key; the pool itself stores only the
 * difference from it. Five minutes of history were three quarters of a stored pool when they were written with every
 * change.
 */
import type { History } from './temporalTape.ts'

/** Changes stored with the pool before its history is written whole again. */
const MAX_CHANGES = 32

/** `base` is the part of the history that is stored separately; empty until that is worthwhile. */
export function isOutgrown(base: History, { tape, start, end }: History): boolean {
  const first = tape.fromMs[end - MAX_CHANGES]
  return end - start >= MAX_CHANGES && first !== undefined && (base.open === null || first > base.open.fromMs)
}
