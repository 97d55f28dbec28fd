/** The state shared by pools of several families, and the events that may change it. */
import type { Tick } from '../units.ts'

/** A token of the pool: 0 is token0. As a swap direction it names the input token. */
export type Side = 0 | 1

/** The state of a pool with ticks. A sqrtPriceX96 of 0 means created but not yet initialised. */
export type Slot = {
  readonly sqrtPriceX96: bigint
  readonly tick: Tick
  readonly liquidity: bigint
}

/** The events of a pool with ticks. `liquidity` of a Mint or Burn is the (positive) amount added or removed. */
export type SlotEvent =
  | { readonly kind: 'INITIALIZE'; readonly sqrtPriceX96: bigint; readonly tick: Tick }
  | {
      readonly kind: 'MINT' | 'BURN'
      readonly tickLower: Tick
      readonly tickUpper: Tick
      readonly liquidity: bigint
      readonly amount0: bigint
      readonly amount1: bigint
    }
  | ({ readonly kind: 'SWAP'; readonly amount0: bigint; readonly amount1: bigint } & Slot)

/** A liquidity change between two ticks; the inverse has `delta` negated. */
export type TickChange = { readonly lower: Tick; readonly upper: Tick; readonly delta: bigint }
