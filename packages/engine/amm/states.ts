/** What pools of several families have in common at one moment, and what may happen to it. */
import type { Tick } from '../units.ts'

/** Which token of the pool: 0 is token0. As a swap direction it names the token that goes in. */
export type Side = 0 | 1

/** The state of a pool with ticks. sqrtPriceX96 of 0 means created and not yet initialised. */
export type Slot = {
  readonly sqrtPriceX96: bigint
  readonly tick: Tick
  readonly liquidity: bigint
}

/** What happens to a pool with ticks. `liquidity` of a Mint or Burn is the (positive) amount added or removed. */
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
