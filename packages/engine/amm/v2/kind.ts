/** A constant-product pair. */
export type V2Terms = {
  readonly family: 'amm_v2'
  /** The share of the input that trades: 997/1000 keeps 3 of 1000. */
  readonly fee: { readonly numerator: bigint; readonly denominator: bigint }
}

export type V2State = { readonly family: 'amm_v2'; readonly reserve0: bigint; readonly reserve1: bigint }

export type V2Event =
  | { readonly kind: 'SYNC'; readonly reserve0: bigint; readonly reserve1: bigint }
  | { readonly kind: 'MINT'; readonly amount0: bigint; readonly amount1: bigint }
  | { readonly kind: 'BURN'; readonly amount0: bigint; readonly amount1: bigint }
  | {
      readonly kind: 'SWAP'
      readonly amount0In: bigint
      readonly amount1In: bigint
      readonly amount0Out: bigint
      readonly amount1Out: bigint
    }

export type V2 = {
  readonly family: 'amm_v2'
  readonly born: { readonly family: 'amm_v2'; readonly numerator: bigint; readonly denominator: bigint }
  readonly terms: V2Terms
  readonly state: V2State
  readonly event: V2Event
}
