/**
 * The consequences of one input: which pools changed, which tokens must be evaluated, and why. Filled while the input
 * is applied, consumed once when the step publishes.
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
  /** Tokens to evaluate: published by the rules for quiet tokens. */
  readonly look: Set<Address>
  /** Every active token, as if its own hops had changed. */
  everyone: boolean
  /** Everything that is evaluated is published, even if equal to its last record. */
  again: boolean
  /** Records that come before all others of the step. */
  readonly first: EngineRecord[]
  readonly swaps: { readonly pool: Pool; readonly payload: SwapObserved }[]
  /** Pools that were created in an orphaned block. */
  readonly removed: Map<Address, Pool>
  /** Blocks whose records this step withdraws, by hash. */
  readonly orphaned: Set<string>
  /** Those of them that the step undid. */
  readonly undone: Set<string>
  /** The reason for a retraction by this step, if the input itself is the reason. */
  retractAs: RetractReason | null
  readonly needs: Need[]
}

/**
 * A request that the engine cannot fulfil itself: the worker reads the data from the chain and returns it as an
 * input.
 */
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
