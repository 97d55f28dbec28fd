/**
 * The history of a pool is stored whole now and then, under a key of its own, and with the pool only what differs from that:
 * written with every change, five minutes of it were three quarters of what a pool is stored as.
 */
import type { History } from '../memory/temporalTape.ts'

/** So many changes stand with the pool before its history is written whole again. */
const MOST_SINCE = 32

export function isOutgrown(base: History, { tape, start, end }: History): boolean {
  const first = tape.fromMs[end - MOST_SINCE]
  return end - start >= MOST_SINCE && first !== undefined && (base.open === null || first > base.open.fromMs)
}
