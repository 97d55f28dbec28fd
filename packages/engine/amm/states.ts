/** What a pool of each family is at one moment, and what may happen to it. */
import type { Tick } from '../units.ts'

export type Family = 'amm_v2' | 'amm_v3'

/** Which token of the pool: 0 is token0. As a swap direction it names the token that goes in. */
export type Side = 0 | 1

export type V2State = { readonly family: 'amm_v2'; readonly reserve0: bigint; readonly reserve1: bigint }

/** sqrtPriceX96 of 0 means created and not yet initialised. */
export type V3State = {
  readonly family: 'amm_v3'
  readonly sqrtPriceX96: bigint
  readonly tick: Tick
  readonly liquidity: bigint
}

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

/** `liquidity` of a Mint or Burn is the (positive) amount of liquidity added or removed. */
export type V3Event =
  | { readonly kind: 'INITIALIZE'; readonly sqrtPriceX96: bigint; readonly tick: Tick }
  | {
      readonly kind: 'MINT' | 'BURN'
      readonly tickLower: Tick
      readonly tickUpper: Tick
      readonly liquidity: bigint
      readonly amount0: bigint
      readonly amount1: bigint
    }
  | {
      readonly kind: 'SWAP'
      readonly amount0: bigint
      readonly amount1: bigint
      readonly sqrtPriceX96: bigint
      readonly liquidity: bigint
      readonly tick: Tick
    }

/** A liquidity change between two ticks; the inverse has `delta` negated. */
export type TickChange = { readonly lower: Tick; readonly upper: Tick; readonly delta: bigint }
