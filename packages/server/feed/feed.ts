/**
 * What a chain feed gives: blocks in order, verified by hash, reorganisations with their whole replacement
 * branch, finality, and its own health. The head never passes a block that failed a check.
 *
 * The consumer pulls one item at a time and says when it is committed, so a slow store slows the feed and
 * nothing piles up.
 */
import type { Hex } from '../ops/config.ts'
import type { MethodCalls } from './endpoints/callRecord.ts'
import type { LogEntry } from './answers/entry.ts'
import type { PastReader } from './history/past.ts'
import type { Simulator } from './endpoints/simulator.ts'

export type BlockRef = { readonly number: number; readonly hash: Hex; readonly timeMs: number }

/** `proof` is `receipts` when the receipts root was recomputed from the block's receipts. */
export type VerifiedBlock = BlockRef & {
  readonly parentHash: Hex
  readonly proof: 'receipts' | 'digest' | 'none'
  /** All logs of the block, or all of the topics that the feed was opened for, in order of log index. */
  readonly logs: readonly LogEntry[]
}

export type HealthStatus = 'HEALTHY' | 'DEGRADED' | 'GAP' | 'UNAVAILABLE'

/** The health record of the wire (R-health-3). Never a URL. */
export type HealthRecord = {
  readonly chain_id: number
  readonly status: HealthStatus
  readonly reasons: readonly string[]
  readonly head: {
    readonly block_number: number
    readonly block_hash: Hex
    readonly block_time_ms: number
  } | null
  readonly processed: {
    readonly block_number: number
    readonly block_hash: Hex
    readonly block_time_ms: number
  } | null
  readonly finalized: { readonly block_number: number; readonly block_hash: Hex } | null
  readonly lag_blocks: number | null
  readonly lag_ms: number | null
  readonly endpoints: readonly {
    readonly name: string
    readonly status: string
    readonly head: number | null
    readonly error_rate: number
    readonly p50_ms: number | null
    /** What it refused, in words; left out where it refused nothing. */
    readonly lacks?: readonly string[]
  }[]
  readonly updated_at_ms: number
}

/** How often an endpoint was asked; `failed` are calls without a good answer, `rejected` answers that failed a check. */
export type EndpointCalls = {
  readonly name: string
  readonly calls: number
  readonly failed: number
  readonly rejected: number
  /** Those sent, by method and purpose; each call of a batch counts. */
  readonly kinds: readonly MethodCalls[]
}

export type FeedItem =
  | { readonly kind: 'block'; readonly block: VerifiedBlock }
  | { readonly kind: 'reorg'; readonly ancestor: Hex; readonly blocks: readonly VerifiedBlock[] }
  | { readonly kind: 'finalize'; readonly number: number; readonly hash: Hex }
  /**
   * After a long stop the chain starts again at this block, whose logs are not given. `ancestor` is the newest block of
   * ours that is still on the chain; blocks that were given above it are not.
   */
  | {
      readonly kind: 'rebase'
      readonly block: VerifiedBlock
      readonly ancestor: { readonly number: number; readonly hash: Hex }
    }
  /** On every change of status or reasons, and every 15 s. */
  | { readonly kind: 'health'; readonly record: HealthRecord }

/** Where a stopped service stood: its tip, and the blocks it can still undo (tip included), by parent. */
export type Resume = {
  readonly tip: BlockRef
  readonly undoable: readonly (BlockRef & { readonly parentHash: Hex })[]
  readonly finalized: { readonly number: number; readonly hash: Hex } | null
  /** Where the blocks that can be undone begin after a gap: the last block before it. */
  readonly beforeGap?: { readonly number: number; readonly hash: Hex }
}

export interface Feed {
  /** Never ends but by `close` or the signal. A reorg below what can be undone makes health UNAVAILABLE `HALTED`. */
  items(signal: AbortSignal): AsyncIterable<FeedItem>
  /** The consumer has committed this block: lag and GAP are measured from it. */
  processed(block: BlockRef): void
  readonly rpc: ChainRpc
  /** Null where it can say nothing of blocks that it has not given. */
  readonly past: PastReader | null
  /** Null where nothing can be tried. */
  readonly simulator: Simulator | null
  calls(): readonly EndpointCalls[]
  close(): Promise<void>
}

/** Calls against the chain, over whichever endpoint is healthy. */
export interface ChainRpc {
  /** `eth_call` at a block hash; null when the call reverts. Throws a FeedError when no endpoint answers. */
  call(to: Hex, data: Hex, blockHash: Hex, signal?: AbortSignal): Promise<Hex | null>
  code(address: Hex, blockHash: Hex, signal?: AbortSignal): Promise<Hex>
}
