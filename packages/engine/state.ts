/**
 * The engine's state: one chain's pools, tokens, stables and position.
 *
 * There are two kinds of data. *Entities* (chain, pools, ticks, tokens, stables, coverage, undo, gaps) are written by
 * a commit and read by a restart. *Indexes* (pairs, own pools, dues, move watches) are derived from them. A state
 * rebuilt from its entities must continue exactly like one that was never stopped.
 */
import type { AnyAdapter } from './amm/families.ts'
import type { Family } from './amm/familyNames.ts'
import type { EntityKey, OwnPools, Pool, Stable, Token } from './entities.ts'
import type { Address, BlockRef, Hex, ProvenRun } from './chain/block.ts'
import type { Journal } from './chain/journal.ts'
import type { ExternalDepth, FeedHealth, Sequencer } from './input.ts'
import type { DepthWatch } from './memory/depthWatch.ts'
import type { DueQueue } from './memory/dueQueue.ts'
import type { Evaluation } from './price/evaluation.ts'
import type { MoveWatch } from './memory/moveWatch.ts'
import type { LastAgreement } from './memory/pairBallot.ts'
import type { Policy } from './policy/policy.ts'
import type { AnchorView } from './rules/anchorView.ts'
import type { ChainSetup } from './setup.ts'
import type { Count, Ms, Approx } from './units.ts'

export type State = {
  readonly setup: ChainSetup
  /** The adapter of each pool family. */
  readonly adapterOf: (family: Family) => AnyAdapter
  policyView: PolicyView
  chain: ChainPosition
  readonly pools: Map<Address, Pool>
  readonly tokens: Map<Address, Token>
  readonly stables: Map<Address, Stable>
  readonly coverage: Map<Address, ExternalDepth>
  /** Ascending by block number, contiguous, ending at the tip; starts after the finalized block or with the end of a gap. */
  readonly journals: Journal[]
  /** Oldest first; only a few, because each is a stop of more than half an hour. */
  readonly gaps: Gap[]
  readonly index: Index
}

export type PolicyView = { readonly policy: Policy; readonly version: string }

/** The position of the fold on its chain, and the status of the feed. */
export type ChainPosition = {
  /** Inputs applied so far; with an ordinal it names a record. */
  readonly steps: Count
  readonly tip: BlockRef | null
  readonly finalized: { readonly number: Count; readonly hash: Hex } | null
  /** Oldest first; only a few, because only missing proofs end a run. */
  readonly proven: readonly ProvenRun[]
  readonly sequencer: Sequencer | null
  readonly health: FeedHealth | null
  readonly paused: boolean
  /** State, score and caps of each anchor at its last valuation: a change affects all its dependents. */
  readonly anchors: Readonly<Record<Address, AnchorView>>
  /**
   * The approximate value of each anchor at that time, used to find the depth bands its dependents have passed since.
   */
  readonly anchorUsd: Readonly<Record<Address, Approx>>
}

/** Blocks that were never followed, both ends included: the chain was restarted at its head. */
export type Gap = {
  readonly fromBlock: Count
  readonly toBlock: Count
  /** The block before the first: the last one that was followed. */
  readonly afterHash: Hex
  readonly atMs: Ms
}

export type Index = {
  /** Pools of the same pair, by `from-to`. */
  readonly pairs: Map<string, Pool[]>
  readonly ownPools: Map<Address, OwnPools>
  /** Pools in which a token is Y: those that depend on its price. */
  readonly poolsInto: Map<Address, Set<Pool>>
  /** The last agreement of each pair. */
  readonly agreements: Map<readonly Pool[], LastAgreement>
  readonly dues: DueQueue
  /** Tokens touched in the moment of the tip, which stays open until a later time; null where that must be looked up. */
  touched: { readonly timeMs: Ms; readonly tokens: Set<Address> } | null
  /** Tokens whose last record has a price. */
  readonly priced: Set<Token>
  /** Tokens that are `isAged`. */
  readonly aged: Set<Address>
  /** Per routing asset and stable: the price at which each dependent was last published. */
  readonly watches: Map<Address, MoveWatch>
  /** Per routing asset and stable: the prices at which a hop into it enters another band of depth. */
  readonly depths: Map<Address, DepthWatch>
  /** Entities changed by the current step, for the commit. */
  changed: Set<EntityKey>
  /** The evaluations behind the records of the current step, for the full quotes of the same commit. */
  evaluations: Map<Address, Evaluation>
}
