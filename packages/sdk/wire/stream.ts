/**
 * The stream: one subscribe frame from the client, then durable records in envelopes, and RESET_REQUIRED as
 * the only message without a sequence.
 *
 * A record is absolute: applying it twice, or after a later snapshot, changes nothing that is newer.
 */
import { ResetReason } from './error.ts'
import { Health } from './health.ts'
import { ChainId, Id } from './identifier.ts'
import { PoolState, poolStateFields } from './pool.ts'
import { SwapEvent } from './poolEvent.ts'
import { CompactState, compactPricedFields, compactUnpricedFields } from './price.ts'
import { Ms, Sequence } from './quantity.ts'
import { RetractReason } from './reason.ts'
import {
  array,
  describe,
  enumeration,
  type Fields,
  literal,
  nullable,
  object,
  optional,
  type Static,
  strictObject,
  string,
  union,
} from './schema.ts'

/** Changes only when a stored record can no longer be read as before. */
export const SCHEMA_VERSION = 1

export const RECORD_TYPES = ['FEED_HEALTH', 'PRICE_RETRACT', 'PRICE_UPSERT', 'SWAP_OBSERVED'] as const

/** The most ids, or chains, in one filter. */
export const MAX_FILTER_IDS = 500

const ascending = { maxItems: MAX_FILTER_IDS, uniqueItems: true } as const

/** Lists are ascending and unique. An empty id list is no constraint; if both are given, both must match. */
export const StreamFilter = strictObject({
  chain_ids: array(ChainId, { ...ascending, minItems: 1 }),
  pool_ids: array(Id, ascending),
  token_ids: array(Id, ascending),
  types: optional(array(enumeration(RECORD_TYPES), { uniqueItems: true })),
})

/** Exactly one per connection, within five seconds. A null cursor starts live. */
export const SubscribeFrame = strictObject({ filter: StreamFilter, resume_cursor: nullable(string()) })
export type SubscribeFrame = Static<typeof SubscribeFrame>

export const Routing = object({ chain_id: ChainId, pool_ids: array(Id), token_ids: array(Id) })

const tokenHead = { scope: literal('token'), chain_id: ChainId, token_id: Id, record_id: string() } as const
const poolHead = { scope: literal('pool'), chain_id: ChainId, pool_id: Id, record_id: string() } as const

/** The absolute current state of a token or a pool. */
export const PriceUpsert = union(
  object({ ...tokenHead, ...compactPricedFields }),
  object({ ...tokenHead, ...compactUnpricedFields }),
  object({ ...poolHead, ...poolStateFields }),
)

const withdrawal = {
  reason: RetractReason,
  retracted: object({
    record_id: string(),
    stream_sequence: describe('Null when that record is no longer kept.', nullable(Sequence)),
  }),
} as const

/** A published state is withdrawn, with the state that holds instead; null for a pool that no longer exists. */
export const PriceRetract = union(
  object({ ...tokenHead, ...withdrawal, current: CompactState }),
  object({ ...poolHead, ...withdrawal, current: nullable(PoolState) }),
)

const envelope = <const Type extends string, const Payload extends Fields[string]>(
  type: Type,
  payload: Payload,
) => object({ stream_sequence: Sequence, routing: Routing, type: literal(type), payload })

export const PriceUpsertEnvelope = envelope('PRICE_UPSERT', PriceUpsert)
export const PriceRetractEnvelope = envelope('PRICE_RETRACT', PriceRetract)
export const SwapObservedEnvelope = envelope('SWAP_OBSERVED', SwapEvent)
export const FeedHealthEnvelope = envelope('FEED_HEALTH', Health)

export const Envelope = union(
  PriceUpsertEnvelope,
  PriceRetractEnvelope,
  SwapObservedEnvelope,
  FeedHealthEnvelope,
)
export type Envelope = Static<typeof Envelope>

/** Replay cannot safely continue: rebuild from a snapshot. */
export const ResetRequired = object({
  type: literal('RESET_REQUIRED'),
  payload: object({ reason: ResetReason, server_time_unix_ms: Ms }),
})
export type ResetRequired = Static<typeof ResetRequired>

export const StreamMessage = union(Envelope, ResetRequired)
export type StreamMessage = Static<typeof StreamMessage>
