/**
 * The engine's state: one chain's pools, tokens, stables and position.
 *
 * Two kinds of data live here. *Entities* (chain, pools, ticks, tokens, stables, coverage, undo, gaps) are what a
 * commit writes and a restart reads. *Indexes* (pairs, own pools, dues, move watches) are derived from them,
 * and a state rebuilt from its entities must continue exactly like the one that was never stopped.
 *
 * Entity values are immutable and replaced whole; the journal keeps the old ones until their block is final.
 */
import type {
  AnyAdapter,
  Difference,
  Family,
  GrossDepth,
  Side,
  V2State,
  V2Terms,
  V3State,
  V3Terms,
} from './amm/adapter.ts'
import type { Address, BlockRef, Hex } from './chain/block.ts'
import type { Journal } from './chain/journal.ts'
import type { Fraction } from './exact/fraction.ts'
import type { ExternalDepth, FeedHealth, Sequencer, StableAnswer } from './input.ts'
import type { DepthAverage } from './rules/depthAverage.ts'
import type { DepthWatch, FiledDepth } from './memory/depthWatch.ts'
import type { DueQueue } from './memory/dueQueue.ts'
import type { Evaluation } from './price/evaluation.ts'
import type { Figures } from './price/hops/figures.ts'
import type { Outlook } from './price/hops/outlook.ts'
import type { JumpState } from './rules/magnitudeJump.ts'
import type { MoveWatch } from './memory/moveWatch.ts'
import type { Policy } from './policy/policy.ts'
import type { Cell } from './memory/cell.ts'
import type { History } from './memory/temporalTape.ts'
import type { PublishedPool, PublishedToken } from './record.ts'
import type { AnchorView } from './rules/anchorView.ts'
import type { ChainSetup } from './setup.ts'
import type { Count, Ms, Near } from './units.ts'

export type State = {
  readonly setup: ChainSetup
  /** How the pools of each family compute. */
  readonly adapterOf: (family: Family) => AnyAdapter
  policyView: PolicyView
  chain: ChainPosition
  readonly pools: Map<Address, Pool>
  readonly tokens: Map<Address, Token>
  readonly stables: Map<Address, Stable>
  readonly coverage: Map<Address, ExternalDepth>
  /** Ascending by block number, contiguous, ending at the tip; starts after the finalized block or with the end of a gap. */
  readonly journals: Journal[]
  /** Oldest first; at most a few, as each is a stop of more than half an hour. */
  readonly gaps: Gap[]
  readonly index: Index
}

export type PolicyView = { readonly policy: Policy; readonly version: string }

/** Where the fold stands on its chain, and what the feed says of itself. */
export type ChainPosition = {
  /** Inputs applied so far; with an ordinal it names a record. */
  readonly steps: Count
  readonly tip: BlockRef | null
  readonly finalized: { readonly number: Count; readonly hash: Hex } | null
  /** Oldest first; at most a few, as nothing but missing proofs ends one. */
  readonly proven: readonly ProvenRun[]
  readonly sequencer: Sequencer | null
  readonly health: FeedHealth | null
  readonly paused: boolean
  /** State, score and caps of each anchor when it was last valued: a change concerns all its dependents. */
  readonly anchors: Readonly<Record<Address, AnchorView>>
  /** About what each was worth then: between that and now lie the bands of depth its dependents have passed. */
  readonly anchorUsd: Readonly<Record<Address, Near>>
}

/** Blocks that were never followed, both ends included: the chain was started again at its head. */
export type Gap = {
  readonly fromBlock: Count
  readonly toBlock: Count
  /** The block before the first: the last one that was followed. */
  readonly afterHash: Hex
  readonly atMs: Ms
}

/** An unbroken run of blocks whose logs are proven complete: it re-verifies every pool it did not touch. */
export type ProvenRun = { readonly first: Count; readonly last: Count; readonly lastMs: Ms }

export type PoolTerms = V2Terms | V3Terms

export type Pool = {
  readonly address: Address
  readonly id: Hex
  readonly deploymentId: string
  readonly token0: Address
  readonly token1: Address
  /** The side that is X in the canonical orientation X→Y; `from` and `to` are X and Y. */
  readonly x: Side
  readonly from: Address
  readonly to: Address
  /** `from-to`: pools of the same pair share it. */
  readonly pair: string
  readonly feePpm: bigint
  readonly createdBlock: Count | null
  readonly createdMs: Ms | null
  terms: PoolTerms
  state: PoolState
  /** The last record on the stream: what whoever listens knows of the pool. */
  published: PublishedPool | null
  /** Derived from all that is known; set when the pool enters the index, and not stored. */
  around: Around
}

/** A pool as it is stored, before it has a place among the others. */
export type KnownPool = Omit<Pool, 'around'>

/** Everything the chain and time have told about a pool up to its last change. Undone with its block. */
export type PoolState = {
  readonly amm: V2State | V3State
  readonly changed: BlockRef
  readonly verifiedNumber: Count
  readonly verifiedMs: Ms
  readonly verified: boolean
  readonly differences: readonly Difference[]
  /** The known ticks no longer reach: the worker should load again. */
  readonly incomplete: boolean
  /** Y per X, fee-free, atomic units; null when the pool has no active liquidity. */
  readonly marginal: Fraction | null
  readonly depth: GrossDepth | null
  /** min(up, down as value) in units of Y; null when depth is unknown. */
  readonly depthY: bigint | null
  readonly evidence: Evidence | null
  readonly average: DepthAverage | null
  readonly history: History
  readonly jump: JumpState | null
  readonly lastTradeMs: Ms | null
  readonly trackedSinceMs: Ms
  /** Known only from before a gap: events are not folded into it, and nothing is priced by it until it is loaded. */
  readonly isBeforeGap: boolean
}

/** A sale of X for Y: a = amountOut, b = amountIn, gross of the fee. */
export type Evidence = {
  readonly kind: 'OBSERVED_SWAP' | 'SIMULATED_SWAP'
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly block: BlockRef
  readonly transactionHash: Hex | null
  readonly logIndex: Count | null
}

export type Decimals = {
  readonly value: Count | null
  readonly reason: string | null
  readonly block: BlockRef
  /** A second, different reading: unusable until it is confirmed by another one. */
  readonly changedTo: Count | null
}

export type Token = {
  readonly address: Address
  readonly id: Hex
  symbol: string | null
  name: string | null
  decimals: Decimals | null
  enrolledAtMs: Ms | null
  /** Set by an unenrolment that has not been followed by an enrolment. */
  dormant: 'OPERATOR' | 'DORMANT' | null
  /** The last record on the stream: the current price, until the next one. */
  published: PublishedToken | null
  /** When time alone may change the outcome. */
  dueMs: Ms | null
  /** An anchor has moved, but the last record is too young: it will be published then if it still has. */
  isDeferred: boolean
  /** One of its own hops has lost freshness: the next proven block may give it back. */
  isAged: boolean
}

/** `lastGood` is the newest complete, positive answer: what a stale feed falls back on. */
export type Stable = {
  readonly reading: StableAnswer | null
  readonly lastGood: StableAnswer | null
  readonly block: BlockRef
}

/**
 * What a pool is looked at together with: its tokens, the pools of its pair, and what follows from its present state,
 * made when it is first asked for. It stands on the pool itself: to find it among thousands took longer than to read it.
 */
export type Around = {
  /** How pools of its family compute. */
  readonly adapter: AnyAdapter
  readonly from: Token
  readonly to: Token
  readonly own: OwnPools
  pair: readonly Pool[]
  readonly figures: Cell<Figures, PoolState, Policy, Decimals | null, Decimals | null>
  readonly outlook: Cell<Outlook, PoolState, Policy>
  filed: FiledDepth | null
}

/** Pools in which a token is X: its own first hops. Both sorted by address. */
export type OwnPools = {
  /** Y is a stable or a routing asset. */
  anchored: readonly Pool[]
  /** Y is neither: they never give X a price. */
  aside: readonly Pool[]
}

export type Index = {
  /** Pools of the same pair, by `from-to`. */
  readonly pairs: Map<string, Pool[]>
  readonly ownPools: Map<Address, OwnPools>
  /** Pools in which a token is Y: whoever depends on its price. */
  readonly poolsInto: Map<Address, Set<Pool>>
  readonly dues: DueQueue
  /** Tokens that were last published with a price. */
  readonly priced: Set<Token>
  /** Tokens that are `isAged`. */
  readonly aged: Set<Address>
  /** Per routing asset and stable: at which of its prices each dependent was last published. */
  readonly watches: Map<Address, MoveWatch>
  /** Per routing asset and stable: at which of its prices a hop into it enters another band of depth. */
  readonly depths: Map<Address, DepthWatch>
  /** Entities changed by the current step, for the commit. */
  changed: Set<EntityKey>
  /** What the records of the current step were computed from, for the full quotes of the same commit. */
  evaluations: Map<Address, Evaluation>
}

export type EntityKey =
  | 'chain'
  | `pool/${Address}`
  | `ticks/${Address}`
  | `token/${Address}`
  | `quote/${Address}`
  | `stable/${Address}`
  | 'coverage'
  | `undo/${string}`
  | `gap/${string}`
