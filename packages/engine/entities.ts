/**
 * Pools, tokens and stables as the engine knows them: entities that a commit writes and a restart reads, and the
 * values derived for each pool.
 *
 * Values are immutable and replaced whole; the journal keeps the old ones until their block is final.
 */
import type { Difference, GrossDepth } from './amm/adapter.ts'
import type { AmmState, AnyAdapter, PoolTerms } from './amm/families.ts'
import type { Side } from './amm/states.ts'
import type { Address, BlockRef, Hex, UnpricedPool } from './chain/block.ts'
import type { Fraction, Place } from './exact/fraction.ts'
import type { SellabilityReading } from './sellabilityReading.ts'
import type { Round } from './rules/feedAnswer.ts'
import type { Cell } from './memory/cell.ts'
import type { History } from './memory/temporalTape.ts'
import type { Policy } from './policy/policy.ts'
import type { PublishedPool, PublishedToken } from './record.ts'
import type { Backing } from './rules/backing.ts'
import type { DepthAverage } from './rules/depthAverage.ts'
import type { JumpState } from './rules/magnitudeJump.ts'
import type { Past } from './rules/history.ts'
import type { Kept, TokenPast } from './rules/ownPast.ts'
import type { Sellable } from './rules/sellability.ts'
import type { Reference } from './rules/temporalMedian.ts'
import type { Timed } from './rules/timed.ts'
import type { Cap, Failure } from './rules/reasons.ts'
import type { Change } from './rules/temporalWindow.ts'
import type { Booked } from './rules/visit.ts'
import type { Count, Ms, Approx, Score } from './units.ts'

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
  /** The fee at creation; `feeOf` gives the current one. */
  readonly feePpm: bigint
  readonly createdBlock: Count | null
  readonly createdMs: Ms | null
  terms: PoolTerms
  state: PoolState
  /** The last record on the stream: the subscribers' view of the pool. */
  published: PublishedPool | null
  /** Derived from all that is known; set when the pool enters the index, and not stored. */
  around: Around
}

/** A pool as stored, before it is entered into the indexes. */
export type KnownPool = Omit<Pool, 'around'>

/** Everything known about a pool up to its last change. Undone with its block. */
export type PoolState = {
  readonly amm: AmmState
  readonly changed: BlockRef
  readonly verifiedNumber: Count
  readonly verifiedMs: Ms
  readonly verified: boolean
  readonly differences: readonly Difference[]
  /** The known ticks no longer reach far enough: the worker should load the pool again. */
  readonly incomplete: boolean
  /** Y per X, fee-free, atomic units; null when the pool has no active liquidity. */
  readonly marginal: Fraction | null
  readonly depth: GrossDepth | null
  /** min(up, down as value) in units of Y; null when depth is unknown. */
  readonly depthY: bigint | null
  readonly evidence: Evidence | null
  readonly average: DepthAverage | null
  readonly history: History
  /** Null before the first moment after its history began. */
  readonly visit: Visit | null
  readonly jump: JumpState | null
  readonly lastTradeMs: Ms | null
  /** The last trade that sold X; absent while none was seen. */
  readonly lastSaleMs?: Ms
  /** Its holdings at the last reading; absent before the first. */
  readonly backing?: Backing
  readonly trackedSinceMs: Ms
  /** The part of its past that was read; null when there was no look-back. */
  readonly past: Past | null
  /** Known only from before a gap: no events are folded into it, and it prices nothing until it is loaded. */
  readonly isBeforeGap: boolean
}

/**
 * The moment in which a pool was last touched: everything its blocks have visited so far, and the pool at the start
 * of it. Another block of the same time books the span again from there; a later block leaves it unchanged.
 */
export type Visit = Booked & {
  /** At the start of the moment; null when no depth was known. */
  readonly average: DepthAverage | null
  /** The ratio held then, if there was one. */
  readonly held: (Change & Place) | null
  /** The median at the pool's previous moment; null when that is too long ago, or when there was none. */
  readonly median: Place | null
}

/** A sale of X for Y: a = amountOut, b = amountIn, including the fee. */
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
  /** A second, different reading: unusable until another one confirms it half an hour of blocks later. */
  readonly changedTo: Count | null
  /** Time of the block of that reading; absent without one. */
  readonly changedMs?: Ms
  /** The previous value, if it was different. */
  readonly from?: Count
  /** For an invalid reading, the last valid value, if there was one. */
  readonly last?: Count
}

export type Token = {
  readonly address: Address
  readonly id: Hex
  symbol: string | null
  name: string | null
  decimals: Decimals | null
  enrolledAtMs: Ms | null
  /** Set by an unenrolment and cleared by the next enrolment. */
  dormant: 'OPERATOR' | 'DORMANT' | null
  /** The last record on the stream: the current price, until the next one. */
  published: PublishedToken | null
  /** When time alone may change the outcome. */
  dueMs: Ms | null
  /** An anchor has moved, but the last record is too young. The token is published later if the move still holds. */
  isDeferred: boolean
  /** One of its own hops has lost freshness: the next proven block may restore it. */
  isAged: boolean
  /** The result of the last simulated sale; absent before the first one. Undone with its block. */
  sellability?: Sellability
  /** Pools of families that are not priced, found when the token was enrolled; absent when there were none. */
  elsewhere?: readonly UnpricedPool[]
  /**
   * Its value in its own pools over the last hour; null before the first moment that touched one. Undone with its
   * block.
   */
  past: TokenPast | null
  /** In a look-back only: its present value, used for the time before a pool of the window gives one. */
  readonly present?: Kept
}

export type Sellability = Sellable &
  Pick<SellabilityReading, 'pool' | 'method' | 'path' | 'sizes' | 'revert'> & {
    readonly block: BlockRef
    readonly checkedAtMs: Ms
  }

/** `lastGood` is the newest complete, positive answer: the fallback for a stale feed. */
export type Stable = {
  readonly reading: Round | null
  readonly lastGood: Round | null
  readonly block: BlockRef
  /** Complete, positive answers by the time they were read, oldest first: the values used by `unitWorth`. */
  readonly good: readonly GoodAnswer[]
}

export type GoodAnswer = { readonly answer: Round; readonly readMs: Ms }

/** Neighbours and derived values of a pool, created on first use and kept on the pool because a map is slower. */
export type Around = {
  /** The arithmetic of its family. */
  readonly adapter: AnyAdapter
  readonly from: Token
  readonly to: Token
  readonly own: OwnPools
  pair: readonly Pool[]
  /** Cached: re-prices the market of `npm run bench:against` 9 % faster. */
  readonly derived: Cell<Derived, PoolState, Policy, Decimals | null, Decimals | null>
  /** Cached: 13 % faster. */
  readonly outlook: Cell<Outlook, PoolState, Policy, Decimals | null, Decimals | null>
  /** For a pool of two stables. Cached: halves the time of a moment with four busy ones. */
  readonly past: Cell<Timed<Reference>, PoolState>
  filed: FiledDepth | null
  base: History
}

/** Pools in which a token is X: its own first hops. Both lists are sorted by address. */
export type OwnPools = {
  /** Y is a stable or a routing asset. */
  anchored: readonly Pool[]
  /** Y is neither: they never give X a price. */
  unanchored: readonly Pool[]
  /** Between which blocks the unanchored ones were verified; null until requested, and after one changes. */
  unanchoredVerified: { readonly least: Count; readonly most: Count } | null
}

/** Values derived from the pool's state, the decimals and the policy alone. */
export type Derived = {
  /** Null while the decimals of either token are not verified. */
  readonly scale: Scale | null
  /** q(X→Y) in whole tokens, from the evidence. */
  readonly ratio: Fraction | null
  /** The approximation of that ratio, and the bit length of its longer side. */
  readonly approx: Approx
  readonly bits: Count
  /** The same ratio from the fee-free marginal. */
  readonly marginal: Fraction | null
  readonly approxMarginal: Approx
  /** The first failed guard that depends on neither time nor anchors. */
  readonly flaw: Failure | null
}

/** 10^decimals of X and Y, and X over Y without common factors: it converts a ratio of units to whole tokens. */
export type Scale = { readonly from: bigint; readonly to: bigint; readonly whole: Fraction }

/** What time alone changes about a pool whose state does not change. */
export type Outlook = {
  readonly temporal: Score
  readonly caps: readonly Cap[]
  /** When its latest jump was opened. */
  readonly jumpSinceMs: Ms | null
  readonly untilMs: Ms
}

/** The position of a pool in the watch of its anchor, and its inputs. */
export type FiledDepth = {
  readonly state: PoolState
  readonly decimals: Count | null
  /** The anchor's price at which the pool is worth a microdollar; null for a pool that is never worth anything. */
  readonly unit: Approx | null
}

export type EntityKey =
  | 'chain'
  | `pool/${Address}`
  | `${'ticks' | 'history'}/${Address}`
  | `token/${Address}`
  | `past/${Address}`
  | `minutes/${Address}`
  | `quote/${Address}`
  | `stable/${Address}`
  | 'coverage'
  | `undo/${string}`
  | `gap/${string}`
