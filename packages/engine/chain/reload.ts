/** A pool's whole state read again: compares what was known with the chain. */
import type { Pool } from '../entities.ts'
import type { LoadedPool } from '../input.ts'
import type { State } from '../state.ts'
import type { BlockRef } from './block.ts'
import { noteBook, setPoolState } from './journal.ts'
import { withPast } from './pastOf.ts'
import { settle } from './poolFold.ts'
import { termsOf } from './registry.ts'
import { visitAt } from './visit.ts'

/** A reload replaces what is known. If the chain says the same, the block that last changed it stays. */
export function reload(state: State, pool: Pool, loaded: LoadedPool, block: BlockRef): Pool {
  noteBook(state, { kind: 'reload', pool: pool.address, terms: pool.terms })
  pool.terms = termsOf(state, loaded.pool, loaded.ticks)
  const { state: before } = pool
  const read = {
    ...before,
    amm: loaded.state,
    verifiedNumber: block.number,
    verifiedMs: block.timeMs,
    verified: true,
    differences: [],
    incomplete: false,
    // Across a gap nothing is known of its past: it is taken up like a pool that was just found.
    trackedSinceMs: before.isBeforeGap ? block.timeMs : before.trackedSinceMs,
    isBeforeGap: false,
  }
  const isSame = !before.isBeforeGap && pool.around.adapter.differences(before.amm, loaded.state).length === 0
  // Another state than ours was visited like that of an event. Across a gap there is nothing to enter it with.
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
