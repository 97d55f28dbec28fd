/**
 * The interface of a chain feed: it delivers blocks in order and verified by hash, reorganisations with their whole
 * replacement branch, finality, and its own health. The head never passes a block that failed a check.
 *
 * The consumer pulls one item at a time and reports when it is committed, so a slow store slows down the feed and no
 * backlog builds up.
 */
import type { Hex } from '../ops/hex.ts'
import type { MethodCalls } from './endpoints/callRecord.ts'
import type { LogEntry } from './answers/entry.ts'
import type { PastReader } from './history/past.ts'
import type { Simulator } from './endpoints/simulator.ts'

export type BlockRef = { readonly number: number; readonly hash: Hex; readonly timeMs: number }

/** `proof` is `receipts` when the receipts root was recomputed from the block's receipts. */
export type VerifiedBlock = BlockRef & {
  readonly parentHash: Hex
  readonly proof: 'receipts' | 'digest' | 'none'
  /** In order of log index: all logs of the block, or all with the topics the feed was opened for. */
  readonly logs: readonly LogEntry[]
}

export type HealthStatus = 'HEALTHY' | 'DEGRADED' | 'GAP' | 'UNAVAILABLE'

/** The health record as sent to clients (R-health-3). Never contains a URL. */
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
    /** What the endpoint refused, in words; left out when it refused nothing. */
    readonly lacks?: readonly string[]
  }[]
  readonly updated_at_ms: number
}

/** Calls sent to an endpoint; `failed` are calls without a usable answer, `rejected` answers that failed a check. */
export type EndpointCalls = {
  readonly name: string
  readonly calls: number
  readonly failed: number
  readonly rejected: number
  /** Calls by method and purpose; each call of a batch counts. */
  readonly kinds: readonly MethodCalls[]
}

export type FeedItem =
  | { readonly kind: 'block'; readonly block: VerifiedBlock }
  | { readonly kind: 'reorg'; readonly ancestor: Hex; readonly blocks: readonly VerifiedBlock[] }
  | { readonly kind: 'finalize'; readonly number: number; readonly hash: Hex }
  /**
   * After a long stop the chain restarts at this block, whose logs are not delivered. `ancestor` is the newest followed
   * block that is still on the chain; the followed blocks above it are not.
   */
  | {
      readonly kind: 'rebase'
      readonly block: VerifiedBlock
      readonly ancestor: { readonly number: number; readonly hash: Hex }
    }
  /** On every change of status or reasons, and every 15 s. */
  | { readonly kind: 'health'; readonly record: HealthRecord }

/** State to resume from: the tip, and the blocks that can still be undone (tip included), parents first. */
export type Resume = {
  readonly tip: BlockRef
  readonly undoable: readonly (BlockRef & { readonly parentHash: Hex })[]
  readonly finalized: { readonly number: number; readonly hash: Hex } | null
  /** The last block before a gap, when the blocks that can be undone begin after one. */
  readonly beforeGap?: { readonly number: number; readonly hash: Hex }
}

export interface Feed {
  /** Ends only through `close` or the signal. A reorg below the undo limit makes health UNAVAILABLE `HALTED`. */
  items(signal: AbortSignal): AsyncIterable<FeedItem>
  /** Reports that the consumer has committed this block; lag and GAP are measured from it. */
  processed(block: BlockRef): void
  readonly rpc: ChainRpc
  /** Null when the feed cannot read blocks that it has not delivered. */
  readonly past: PastReader | null
  /** Null when no endpoint can simulate calls. */
  readonly simulator: Simulator | null
  calls(): readonly EndpointCalls[]
  close(): Promise<void>
}

/** Calls against the chain, over whichever endpoint is healthy. */
export interface ChainRpc {
  /** `eth_call` at a block hash; null when the call reverts. Throws a FeedError when every endpoint fails. */
  call(to: Hex, data: Hex, blockHash: Hex, signal?: AbortSignal): Promise<Hex | null>
  code(address: Hex, blockHash: Hex, signal?: AbortSignal): Promise<Hex>
}
