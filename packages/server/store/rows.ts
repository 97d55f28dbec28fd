/** Records and rows that the parts of a store exchange. */
import type { Written } from '@assay/engine'

export type Sequence = number

/**
 * A stream record before it has a sequence; `unsealed` makes its text. The store writes the envelope `{stream_sequence,
 * routing, type, payload}`, adds `stream_sequence` to a token's `as_of` (in the payload or in `current`) and to
 * `retracted`, and keeps the current state of the token or pool it is about.
 *
 * The payload of a PRICE_UPSERT begins with `scope`, `chain_id`, `token_id` or `pool_id`, and `record_id`; the rest is
 * the state.
 */
export type RecordDraft = {
  readonly type: 'PRICE_UPSERT' | 'PRICE_RETRACT' | 'SWAP_OBSERVED' | 'FEED_HEALTH'
  readonly routing: {
    readonly chain_id: number
    readonly pool_ids: readonly string[]
    readonly token_ids: readonly string[]
  }
  readonly payload: Readonly<Record<string, unknown>>
  /** The full quote of a token record. */
  readonly quote: Written | null
}

export type TokenFacts = {
  readonly tokenAddress: string
  readonly symbol: string | null
  readonly name: string | null
  readonly decimals: number | null
  readonly role: 'STABLE' | 'ROUTING' | 'TOKEN'
  readonly enrolledAtMs: number | null
}

export type LogRecord = {
  readonly sequence: Sequence
  readonly chainId: number
  readonly type: RecordDraft['type']
  readonly poolIds: readonly string[]
  readonly tokenIds: readonly string[]
  readonly timeMs: number
  /** The whole envelope as JSON text. */
  readonly envelope: string
  /** Length of the envelope in UTF-8. */
  readonly bytes: number
}

export type TokenRow = TokenFacts & {
  readonly chainId: number /** Compact state with its sequence in `as_of`. */
  readonly price: string | null
  readonly sequence: Sequence | null
}

export type AuditRow = {
  readonly atMs: number
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly detail: string | null
}
