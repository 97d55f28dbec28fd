/**
 * The output of a step: records in wire format, without the sequence that a store adds when it commits.
 *
 * A record is named by `record_id` = chain, step, ordinal. The compact price state is the current price everywhere
 * (stream, snapshot, HTTP, history) until the next record of the same entity.
 */
import type { SwapAmounts } from './amm/adapter.ts'
import type { Address, Hex } from './chain/block.ts'
import type { ExactText } from './exact/decimal.ts'
import type { Fraction } from './exact/fraction.ts'
import type { Label } from './rules/label.ts'
import type { Cap, RetractReason, UnpricedReason } from './rules/reasons.ts'
import type { Count, Ms, Score } from './units.ts'

export type AsOf = { readonly block_number: Count; readonly block_hash: Hex; readonly block_time_ms: Ms }

export type Confidence = {
  readonly score: Score
  readonly label: Label
  readonly components: Readonly<Record<string, { readonly score: Score } & Readonly<Record<string, unknown>>>>
  readonly caps: readonly Cap[]
}

export type CompactPriced = {
  readonly state: 'PRICED'
  readonly price_usd: ExactText
  readonly confidence: Confidence
  readonly support: {
    readonly low: ExactText
    readonly high: ExactText
    readonly accepted: Count
    readonly rejected: Count
    readonly retained_weight_bps: Count
    readonly tau_bps: string
    readonly mad_bps: string
  } | null
  readonly selected: {
    readonly route_id: string
    readonly pool_ids: readonly Hex[]
    readonly weight_microusd: string
  } | null
  readonly stable: { readonly token_address: Address; readonly usd: ExactText; readonly status: string }
  /** Null for a stable or a routing asset; absent from records older than the first reading. */
  readonly sellability?: {
    readonly status: string
    readonly buy_tax_bps: Count | null
    readonly transfer_tax_bps: Count | null
    readonly sell_tax_bps: Count | null
    readonly reason: string | null
  } | null
  readonly evaluated_at_ms: Ms
  readonly as_of: AsOf
  readonly expires_at_ms: Ms | null
  readonly policy_version: string
}

export type CompactUnpriced = {
  readonly state: 'UNPRICED'
  readonly reason: UnpricedReason
  readonly evaluated_at_ms: Ms
  readonly as_of: AsOf
  readonly policy_version: string
}

export type CompactState = CompactPriced | CompactUnpriced

/**
 * The current price of a token, or the reason why it has none, with the id of the record that published it and the
 * anchors' marginal prices at that time: the token is published again when one of them has moved.
 */
export type PublishedToken = {
  readonly recordId: string
  readonly compact: CompactState
  readonly references: readonly { readonly anchor: Address; readonly marginalUsd: Fraction }[]
}

/** The `state` of a pool, in wire format. */
export type PoolStateText = Readonly<Record<string, unknown>> & { readonly block_hash: Hex }
export type PublishedPool = { readonly recordId: string; readonly state: PoolStateText }

export type Routing = {
  readonly chain_id: Count
  readonly pool_ids: readonly Hex[]
  readonly token_ids: readonly Hex[]
}

/** The id of a record and its subject. */
export type RecordHead = { readonly chain_id: Count; readonly record_id: string } & (
  | { readonly scope: 'token'; readonly token_id: Hex }
  | { readonly scope: 'pool'; readonly pool_id: Hex }
)

export type EngineRecord =
  | {
      readonly type: 'PRICE_UPSERT'
      readonly routing: Routing
      readonly payload: RecordHead & Readonly<Record<string, unknown>>
    }
  | {
      readonly type: 'PRICE_RETRACT'
      readonly routing: Routing
      readonly payload: RecordHead & {
        readonly reason: RetractReason
        readonly retracted: { readonly record_id: string }
        readonly current: CompactState | PoolStateText | null
      }
    }
  | { readonly type: 'SWAP_OBSERVED'; readonly routing: Routing; readonly payload: SwapObserved }
  | {
      readonly type: 'FEED_HEALTH'
      readonly routing: Routing
      readonly payload: Readonly<Record<string, unknown>>
    }

/** A decoded swap with exact amounts and its position; keyed by (block_hash, log_index). */
export type SwapObserved = {
  readonly chain_id: Count
  readonly pool_id: Hex
  readonly kind: 'SWAP'
  readonly block_number: Count
  readonly block_hash: Hex
  readonly block_time_ms: Ms
  readonly transaction_hash: Hex
  readonly log_index: Count
  readonly finality: 'canonical' | 'finalized' | 'orphaned'
  readonly proof: 'receipts' | 'digest' | 'none'
} & SwapAmounts
