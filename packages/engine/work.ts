/**
 * What one input stirred up: which pools changed, whose tokens must be looked at, and why. Filled while the
 * input is applied, consumed once when the step publishes.
 */
import type { Address } from './chain/block.ts'
import type { RetractReason } from './rules/reasons.ts'
import type { EngineRecord, SwapObserved } from './record.ts'
import type { Pool } from './entities.ts'

export type Work = {
  /** Pools whose own state changed: each gets one record. */
  readonly pools: Set<Pool>
  /** Tokens whose own hops changed: published if anything differs. */
  readonly own: Set<Address>
  /** Tokens to look at: published by the rules for quiet tokens. */
  readonly look: Set<Address>
  /** Every active token, as if its own hops had changed. */
  everyone: boolean
  /** Whatever is evaluated is published, even if equal to its last record. */
  again: boolean
  /** Records that come before all others of the step. */
  readonly first: EngineRecord[]
  readonly swaps: { readonly pool: Pool; readonly payload: SwapObserved }[]
  /** Pools that an orphaned block had brought. */
  readonly removed: Map<Address, Pool>
  /** Blocks whose records this step withdraws, by hash. */
  readonly orphaned: Set<string>
  /** Those of them that it took back. */
  readonly undone: Set<string>
  /** What to call a price taken back by this step, where the input itself is the reason. */
  retractAs: RetractReason | null
  readonly needs: Need[]
}

/** What the engine cannot do for itself: the worker reads it from the chain and comes back with an input. */
export type Need =
  | {
      readonly kind: 'load'
      readonly pool: Address
      readonly why: 'INCOMPLETE' | 'UNVERIFIED' | 'ORPHANED' | 'NOT_AT_TIP' | 'REBASED'
    }
  | { readonly kind: 'token_facts'; readonly token: Address }

export const newWork = (): Work => ({
  pools: new Set(),
  own: new Set(),
  look: new Set(),
  everyone: false,
  again: false,
  first: [],
  swaps: [],
  removed: new Map(),
  orphaned: new Set(),
  undone: new Set(),
  retractAs: null,
  needs: [],
})
