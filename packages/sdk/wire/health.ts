/**
 * Feed health of a chain. It is sent on every change and every 15 seconds, so on a live stream silence
 * means loss.
 */
import { BlockPosition } from './block.ts'
import { ChainId, Hash } from './identifier.ts'
import { Count, Ms } from './quantity.ts'
import {
  array,
  describe,
  enumeration,
  known,
  nullable,
  number,
  object,
  optional,
  type Static,
  string,
} from './schema.ts'

export const FeedStatus = enumeration(['HEALTHY', 'DEGRADED', 'GAP', 'UNAVAILABLE'])
export type FeedStatus = Static<typeof FeedStatus>

/** Why a chain is not HEALTHY (R-health-1), worst first; the last one only states how finality is known. */
export const HEALTH_REASONS = [
  'HALTED',
  'PAUSED',
  'WORKER_SILENT',
  'NO_ENDPOINT',
  'NO_VERIFIED_HEAD',
  'REBASED',
  'BEHIND',
  'BLOCK_REFUSED',
  'HEAD_OLD',
  'CHAIN_STALLED',
  'HEAD_UNCONFIRMED',
  'NO_PROOF',
  'FINALITY_STALLED',
  'CLOCK',
  'FINALITY_BY_DEPTH',
] as const

/** Null before the first position is known. */
const Position = nullable(BlockPosition)

/** An RPC endpoint by the operator's name for it; its address is never shown. */
export const EndpointHealth = object({
  name: string(),
  status: known(['OK', 'LAGGING', 'SET_ASIDE', 'FAILING', 'WRONG_CHAIN']),
  head: nullable(Count),
  error_rate: number({ minimum: 0, maximum: 1 }),
  p50_ms: nullable(Ms),
  lacks: optional(
    describe('Methods it refused, each with its code; absent if there are none.', array(string())),
  ),
})

/**
 * Health is reported every 15 seconds. When it is older than this, it no longer describes the present: the chain is
 * silent.
 */
export const SILENT_AFTER_MS = 30_000

/** Blocks that were not followed, both included: after a long stop the chain was restarted at its head. */
export const Gap = object({ from_block: Count, to_block: Count, at_ms: Ms })
export type Gap = Static<typeof Gap>

export const Health = object({
  chain_id: ChainId,
  status: FeedStatus,
  reasons: array(known(HEALTH_REASONS)),
  head: Position,
  processed: Position,
  finalized: nullable(object({ block_number: Count, block_hash: Hash })),
  lag_blocks: nullable(Count),
  lag_ms: nullable(Ms),
  endpoints: array(EndpointHealth),
  updated_at_ms: Ms,
  gap: optional(
    describe(
      'The newest gap, shown for the 35 minutes in which its blocks affect averages and medians.',
      Gap,
    ),
  ),
})
export type Health = Static<typeof Health>

/**
 * The present state of a chain's feed, as the service sees it. It accompanies responses that contain records as they
 * were written.
 */
export const Feed = object({ chain_id: ChainId, status: FeedStatus, reasons: array(known(HEALTH_REASONS)) })
export type Feed = Static<typeof Feed>
