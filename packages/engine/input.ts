/**
 * The closed union of all inputs of the engine. Each input carries `atMs`, the worker's wall clock when it passed the
 * input on: the engine has no other clock.
 *
 * `block`, `reorg`, `finalize`, `rebase_head` come from the chain. `load`, `look_back`, `recheck`, `stable`,
 * `feed_answer`, `sellability` and `token_facts` are read from the chain at a block and are undone when it is
 * orphaned. The rest comes from operators and sources outside the chain and survives a reorganisation.
 */
import type { AmmState } from './amm/families.ts'
import type { LoadedTicks } from './amm/tickBook.ts'
import type { Address, Block, BlockRef, Hex, NewPool, UnpricedPool } from './chain/block.ts'
import type { PoolState } from './entities.ts'
import type { Policy } from './policy/policy.ts'
import type { TokenPast } from './rules/ownPast.ts'
import type { PoolBalances, SellabilityReading } from './sellabilityReading.ts'
import type { Round } from './rules/feedAnswer.ts'
import type { Count, Ms } from './units.ts'

export type Input = { readonly atMs: Ms } & (
  | { readonly kind: 'block'; readonly block: Block }
  | { readonly kind: 'reorg'; readonly ancestor: Hex; readonly blocks: readonly Block[] }
  | { readonly kind: 'finalize'; readonly number: Count; readonly hash: Hex }
  | {
      /** After a long stop the chain starts again here; `ancestor` is the newest block of ours it still has. */
      readonly kind: 'rebase_head'
      readonly block: BlockRef
      readonly ancestor: Hex
      /** Applies until the pools are loaded again: no price is published before. */
      readonly health: FeedHealth
    }
  | { readonly kind: 'timer' }
  | { readonly kind: 'health'; readonly health: FeedHealth }
  | {
      readonly kind: 'stable'
      readonly block: BlockRef
      readonly answers: readonly StableReading[]
      readonly sequencer: Sequencer | null
    }
  | {
      /** New answers of feeds, from the proven logs of a block. */
      readonly kind: 'feed_answer'
      readonly block: BlockRef
      readonly answers: readonly FeedAnswer[]
    }
  | { readonly kind: 'coverage'; readonly assets: readonly ExternalDepth[] }
  | { readonly kind: 'policy'; readonly policy: Policy }
  | {
      readonly kind: 'enrol'
      readonly token: Address
      /** The pools where a look-up found its liquidity instead; omitted, nothing new is known. */
      readonly elsewhere?: readonly UnpricedPool[]
    }
  | { readonly kind: 'unenrol'; readonly token: Address; readonly reason: 'OPERATOR' | 'DORMANT' }
  | { readonly kind: 'load'; readonly block: BlockRef; readonly pools: readonly LoadedPool[] }
  | {
      readonly kind: 'look_back'
      readonly block: BlockRef
      readonly pools: readonly LookedBack[]
      /** For the tokens that these pools price; absent in an input from before pasts were kept. */
      readonly pasts?: readonly LookedPast[]
    }
  | { readonly kind: 'recheck'; readonly block: BlockRef; readonly pools: readonly RecheckedPool[] }
  | {
      /** Whether tokens can be sold, as simulated at this block. */
      readonly kind: 'sellability'
      readonly block: BlockRef
      readonly readings: readonly SellabilityReading[]
      /** Holdings of pools of these tokens at the same block. */
      readonly balances?: readonly PoolBalances[]
    }
  | { readonly kind: 'token_facts'; readonly block: BlockRef; readonly facts: readonly TokenFacts[] }
  | { readonly kind: 'pause'; readonly paused: boolean }
)

export type FeedStatus = 'HEALTHY' | 'DEGRADED' | 'GAP' | 'UNAVAILABLE'

/** `record` is the health record of the wire, carried through untouched; the engine reads the status. */
export type FeedHealth = { readonly status: FeedStatus; readonly record: Readonly<Record<string, unknown>> }

/** For the feed of a stable or of a routing asset. */
export type FeedAnswer = { readonly token: Address; readonly answer: Round }
export type StableReading = { readonly token: Address; readonly answer: Round | null }

/** The L2 sequencer's own report, on a chain that has one. */
export type Sequencer = { readonly up: boolean; readonly sinceMs: Ms }

export type ExternalDepth = { readonly token: Address; readonly depthMicrousd: bigint; readonly asOfMs: Ms }

/** The complete state of a pool read at a block hash. `ticks` has its whole range; null for a family without ticks. */
export type LoadedPool = {
  readonly pool: NewPool
  readonly createdBlock: Count | null
  readonly createdMs: Ms | null
  readonly state: AmmState
  readonly ticks: LoadedTicks | null
  readonly lastTradeMs: Ms | null
  /** Its past should have been read, but could not be (R-history-4). */
  readonly past?: 'UNREAD'
  /** The last trade is no later than this: a pair's own time of its last change. */
  readonly tradedByMs?: Ms | null
}

/** A whole pool with its past since the start of the window (R-history-1): `state` is the fold of its events. */
export type LookedBack = {
  readonly pool: NewPool
  readonly createdBlock: Count | null
  readonly createdMs: Ms | null
  readonly state: PoolState
  readonly ticks: LoadedTicks | null
  /** The logs from which it was folded. */
  readonly logs: PastLogs
}
/** The value of a token in the pools of the look-back that price it (R-history-9). */
export type LookedPast = { readonly token: Address; readonly past: TokenPast }
/** Both ends included; `digest` covers the positions of all logs in order, as computed by the reader. */
export type PastLogs = {
  readonly fromBlock: Count
  readonly toBlock: Count
  readonly count: Count
  readonly digest: string
}

export type RecheckedPool = { readonly address: Address; readonly state: AmmState }

/** `decimals` is null when the two readings failed or disagreed; `reason` says which. */
export type TokenFacts = {
  readonly token: Address
  readonly decimals: Count | null
  readonly reason: string | null
  /** An operator has confirmed that these are its decimals. */
  readonly confirmed?: boolean
  readonly symbol: string | null
  readonly name: string | null
}
