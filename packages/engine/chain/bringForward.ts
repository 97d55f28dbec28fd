/**
 * Brings a pool read at one block forward to a later one with its own events in between. Blocks do not wait while a
 * node reads a whole pool, so this is how the answer reaches the tip. The result equals a read at the later block.
 * When that cannot be proven there is no result, and the pool is read again.
 */
import { adapterOf } from '../amm/families.ts'
import type { LoadedPool } from '../input.ts'
import type { BlockRef, PoolEvent } from './block.ts'

/** A block after the one the pool was read at. */
export type Passed = Pick<BlockRef, 'timeMs'> & { readonly events: readonly PoolEvent[] }

/** `passed` holds all blocks since the read, in order, each with at least all events of this pool. */
export function bringForward(loaded: LoadedPool, passed: readonly Passed[]): LoadedPool | null {
  const { address, fee } = loaded.pool
  const adapter = adapterOf(fee.family)
  const terms = adapter.terms(fee, loaded.ticks)
  const book = adapter.book(terms)
  let { state, lastTradeMs } = loaded
  let prior = state
  let isTouched = false
  for (const { timeMs, events } of passed)
    for (const { pool, family, event } of events) {
      if (pool !== address || family !== fee.family || event.kind === 'CREATED') continue
      const applied = adapter.apply(terms, state, prior, event)
      // A Sync states the whole reserves of a pair. In a pool with ticks, an event we do not understand may hide a
      // change of them.
      if (applied.verdict !== 'verified' && book !== null) return null
      prior = state
      state = applied.state
      isTouched = true
      if (event.kind === 'SWAP') lastTradeMs = timeMs
    }
  if (!isTouched) return loaded
  const { ticks } = loaded
  const entries = book === null ? [] : book.entries()
  return { ...loaded, state, lastTradeMs, ticks: ticks === null ? null : { range: ticks.range, entries } }
}
