/**
 * The previous values of everything a block changed: one journal per block that is not yet final (`changes.ts` writes
 * it, `undo.ts` restores from it).
 *
 * A journal lists what was published while its block was the tip, but does not keep it: those entities are evaluated
 * again on the new branch. Data not derived from the chain (health, policy, coverage, enrolments) is not in here and
 * survives.
 */
import type { PoolTerms } from '../amm/families.ts'
import type { TickChange } from '../amm/states.ts'
import type { Decimals, EntityKey, PoolState, Sellability, Stable } from '../entities.ts'
import type { Sequencer } from '../input.ts'
import type { SwapObserved } from '../record.ts'
import type { Kept, Running } from '../rules/ownPast.ts'
import type { Address, BlockRef, Hex, ProvenRun } from './block.ts'

export type Journal = {
  readonly key: EntityKey
  readonly block: BlockRef
  /** The block before it in our fold; for the block at the end of a gap, the last one before the gap. */
  readonly parentHash: Hex
  /** The previous chain position. */
  readonly before: {
    readonly tip: BlockRef | null
    readonly proven: readonly ProvenRun[]
    readonly sequencer: Sequencer | null
  }
  /** Pools first known in this block. */
  readonly created: Set<Address>
  readonly pools: Map<Address, PoolState>
  /** Changes of ticks and reloads, in order; undone in reverse. */
  readonly books: BookUndo[]
  /** Entities whose records rest on this block. */
  readonly publishedPools: Set<Address>
  readonly publishedTokens: Set<Address>
  readonly stables: Map<Address, Stable | null>
  readonly decimals: Map<Address, Decimals | null>
  readonly sellability: Map<Address, Sellability | null>
  /** The running minute of a token's past; its full minutes only when they changed too, which is once a minute. */
  readonly pasts: Map<Address, Running | null>
  readonly minutes: Map<Address, readonly Kept[]>
  readonly swaps: JournalSwap[]
}

/** The journal of a block in which nothing has changed yet. Its fields are stored in this order. */
export const openJournal = (block: BlockRef, parentHash: Hex, chain: Journal['before']): Journal => ({
  key: `undo/${block.number}`,
  block: { number: block.number, hash: block.hash, timeMs: block.timeMs },
  parentHash,
  before: { tip: chain.tip, proven: chain.proven, sequencer: chain.sequencer },
  swaps: [],
  created: new Set(),
  pools: new Map(),
  books: [],
  publishedPools: new Set(),
  publishedTokens: new Set(),
  stables: new Map(),
  decimals: new Map(),
  sellability: new Map(),
  pasts: new Map(),
  minutes: new Map(),
})

export type JournalSwap = { readonly pool: Address; readonly payload: SwapObserved }

export type BookUndo =
  | { readonly kind: 'change'; readonly pool: Address; readonly change: TickChange }
  | { readonly kind: 'reload'; readonly pool: Address; readonly terms: PoolTerms }
