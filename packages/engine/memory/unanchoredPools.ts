/**
 * Decides when a token's pools without an anchor may next change, without touching them while a proven run of blocks
 * covers them all: reading thousands of pools costs more than computing. Law: the same answer as evaluating each
 * pool.
 */
import type { ProvenRun } from '../chain/block.ts'
import type { OwnPools } from '../entities.ts'
import { isAged } from '../rules/freshness.ts'
import { count, type Ms } from '../units.ts'
import { memory } from './switch.ts'

/** No pool has aged, and none is the first to expire: the token is due by `dueMs` anyway. */
export function isPassed(
  own: OwnPools,
  latest: ProvenRun | undefined,
  { atMs, ttlMs }: { readonly atMs: Ms; readonly ttlMs: Ms },
  dueMs: Ms,
): boolean {
  if (own.unanchored.length === 0) return true
  if (!memory.isOn || latest === undefined || latest.lastMs + ttlMs < dueMs) return false
  if (isAged(latest.lastMs, ttlMs, atMs)) return false
  own.unanchoredVerified ??= verifiedBetween(own)
  const { least, most } = own.unanchoredVerified
  return least >= latest.first - 1 && most <= latest.last
}

function verifiedBetween({ unanchored }: OwnPools): NonNullable<OwnPools['unanchoredVerified']> {
  const numbers = unanchored.map(({ state }) => state.verifiedNumber)
  return { least: count(Math.min(...numbers)), most: count(Math.max(...numbers)) }
}
