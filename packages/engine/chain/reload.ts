/** Reads a pool's whole state again and compares the known state with the chain. */
import type { Pool } from '../entities.ts'
import type { LoadedPool } from '../input.ts'
import type { State } from '../state.ts'
import type { BlockRef } from './block.ts'
import { noteBook, setPoolState } from './changes.ts'
import { withPast } from './pastOf.ts'
import { settle } from './poolFold.ts'
import { termsOf } from './registry.ts'
import { visitAt } from './visit.ts'

/** A reload replaces the known state. If the chain agrees with it, the pool keeps the block of its last change. */
export function reload(state: State, pool: Pool, loaded: LoadedPool, block: BlockRef): Pool {
  noteBook(state, { kind: 'reload', pool: pool.address, terms: pool.terms })
  pool.terms = termsOf(state, loaded.pool, loaded.ticks)
  const { state: before } = pool
  const isSame =
    !before.isBeforeGap && pool.around.adapter.differences(pool.terms, before.amm, loaded.state).length === 0
  const read = {
    ...before,
    // What is not compared stays as we know it: the fee that the last swap paid (R-hook-2).
    amm: isSame ? before.amm : loaded.state,
    verifiedNumber: block.number,
    verifiedMs: block.timeMs,
    verified: true,
    differences: [],
    incomplete: false,
    // Nothing is known of its past across a gap, so it is treated like a newly found pool.
    trackedSinceMs: before.isBeforeGap ? block.timeMs : before.trackedSinceMs,
    isBeforeGap: false,
  }
  // A state that differs from ours counts as visited, like the state after an event. Across a gap there is no state
  // to start the visit from.
  const visit = before.isBeforeGap ? null : visitAt(before, block.timeMs, state.setup.blockTimeMs)
  const settled = settle(pool, read, block, visit, null, state.policyView.policy)
  const isKept = isSame && before.depthY === settled.depthY && before.evidence !== null
  setPoolState(
    state,
    pool,
    isKept
      ? { ...read, incomplete: settled.incomplete }
      : isSame
        ? { ...settled, changed: before.changed }
        : before.isBeforeGap
          ? withPast(state, loaded, block, settled)
          : settled,
  )
  return pool
}
