/**
 * The health a worker reports for its chain: what the feed observes, plus what only the worker knows. A paused chain is
 * reported as paused even if its feed is healthy. After a restart at the head the chain is behind until its pools are
 * reloaded, and the gap is reported for as long as it can affect a price.
 */
import type { Gap, Input, Ms } from '@assay/engine'
import type { BlockRef, HealthRecord } from '../feed/feed.ts'

type FeedHealth = Extract<Input, { kind: 'health' }>['health']

/** The longest history any rule reads (R-health-6): after that no average or median includes the gap. */
const SHOWN_MS = 35 * 60_000

export type WorkerView = {
  readonly isPaused: boolean
  readonly isRebasing: boolean
  /** The newest gap, if there is one. */
  readonly gap: Pick<Gap, 'fromBlock' | 'toBlock' | 'atMs'> | undefined
  readonly nowMs: Ms
}

export function reportedHealth(record: HealthRecord, view: WorkerView): FeedHealth {
  const { isPaused, isRebasing, gap, nowMs } = view
  const reasons = [...(isPaused ? ['PAUSED'] : []), ...(isRebasing ? ['REBASED'] : []), ...record.reasons]
  const status =
    isPaused || record.status === 'UNAVAILABLE' ? 'UNAVAILABLE' : isRebasing ? 'GAP' : record.status
  const isShown = gap !== undefined && nowMs - gap.atMs < SHOWN_MS
  return {
    status,
    record: {
      ...record,
      status,
      reasons,
      ...(isShown ? { gap: { from_block: gap.fromBlock, to_block: gap.toBlock, at_ms: gap.atMs } } : {}),
    },
  }
}

/** The health right at a restart at the head, before the feed has reported any. */
export function healthAtHead(
  chainId: number,
  block: BlockRef,
  finalized: { readonly number: number; readonly hash: `0x${string}` } | null,
  last: HealthRecord | null,
  nowMs: Ms,
): HealthRecord {
  const position = { block_number: block.number, block_hash: block.hash, block_time_ms: block.timeMs }
  return {
    chain_id: chainId,
    status: last?.status ?? 'GAP',
    reasons: last?.reasons ?? [],
    head: position,
    processed: position,
    finalized: finalized === null ? null : { block_number: finalized.number, block_hash: finalized.hash },
    lag_blocks: 0,
    lag_ms: 0,
    endpoints: last?.endpoints ?? [],
    updated_at_ms: nowMs,
  }
}
