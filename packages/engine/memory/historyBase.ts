/**
 * Decides when a list that grows with every change is stored whole again, under its own key: the history of a pool,
 * and the running minute of a token. The pool and the past themselves store only the difference from it. Five minutes
 * of history were three quarters of a stored pool when they were written with every change.
 */
import type { Running } from '../rules/ownPast.ts'
import type { History } from './temporalTape.ts'

/** Changes stored with the pool before its history is written whole again. */
const MAX_CHANGES = 32

/** `base` is the part of the history that is stored separately; empty until that is worthwhile. */
export function isOutgrown(base: History, { tape, start, end }: History): boolean {
  const first = tape.fromMs[end - MAX_CHANGES]
  return end - start >= MAX_CHANGES && first !== undefined && (base.open === null || first > base.open.fromMs)
}

/** Ratios stored with a past before its minute is written whole again: a minute has up to 133 at blocks of 450 ms. */
const MAX_RATIOS = 8

/** `base` is the part of the minute that is stored separately; absent until that is worthwhile. */
export function isMinuteOutgrown(base: Running['open'] | undefined, open: Running['open']): boolean {
  const first = open.at(-MAX_RATIOS)
  const newest = base?.at(-1)
  return (
    open.length >= MAX_RATIOS && first !== undefined && (newest === undefined || first.fromMs > newest.fromMs)
  )
}
