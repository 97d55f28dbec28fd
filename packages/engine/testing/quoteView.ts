/** A quote as a reader of its JSON sees it. */
import type { Address, Hex } from '../chain/block.ts'
import type { ExactText } from '../exact/decimal.ts'
import type { CompactPriced, CompactUnpriced } from '../record.ts'

/** A cap of any code. */
export type CapText = { readonly code: string; readonly cap: number }

export type Component = { readonly score: number } & Readonly<Record<string, unknown>>

export type HopView = {
  readonly pool_id: Hex
  readonly pool_address: Address
  readonly family: string
  readonly deployment_id: string
  readonly fee_ppm: number
  readonly from: Address
  readonly to: Address
  readonly from_decimals: number | null
  readonly to_decimals: number | null
  readonly ratio: ExactText | null
  readonly evidence: {
    readonly kind: string
    readonly amount_in: string
    readonly amount_out: string
    readonly block_number: number
    readonly block_hash: Hex
    readonly transaction_hash: Hex | null
    readonly log_index: number | null
    readonly observed_at_ms: number
    readonly finality: string
  } | null
  readonly marginal: ExactText | null
  readonly depth: Readonly<
    Record<
      'up_microusd' | 'down_microusd' | 'current_microusd' | 'ewma_microusd' | 'effective_microusd',
      string
    >
  > | null
  readonly depth_reason?: string
  readonly score: number
  readonly components: Readonly<Record<string, Component>>
  readonly caps: readonly CapText[]
  readonly failure?: FailureView
}

type FailureView = { readonly rule: string; readonly actual: string | null; readonly required: string | null }

export type RouteView = {
  readonly route_id: string
  readonly selected: boolean
  readonly accepted: boolean
  readonly material: boolean
  readonly reason: string | null
  readonly failure?: FailureView
  readonly weight_microusd: string
  readonly capacity_microusd: string
  readonly price_usd: ExactText | null
  readonly stable:
    | (Readonly<Record<string, unknown>> & { readonly token_address: Address; readonly usd: ExactText })
    | null
  readonly score: number
  readonly components: Readonly<Record<string, Component>>
  readonly caps: readonly CapText[]
  readonly hops: readonly HopView[]
}

type OwnPastView = {
  readonly covered_ms: number
  readonly reference_usd: ExactText | null
  readonly marginal_usd: ExactText
  readonly deviation_bps: string | null
}

export type QuoteView = (CompactPriced | CompactUnpriced) & {
  readonly chain_id: number
  readonly token: Address
  readonly source: string
  readonly last_trade_ms: number | null
  readonly own_past?: OwnPastView | null
  readonly candidates?: readonly (FailureView & {
    readonly route_id: string
    readonly hops: readonly HopView[]
  })[]
  readonly routes?: readonly RouteView[]
  readonly routing_assets?: readonly QuoteView[]
  readonly usd_feed?: { readonly usd: ExactText; readonly deviation_bps: string } | null
}
