/** What a pool of a Uniswap v4 manager is. */
import type { Tick } from '../../units.ts'
import type { TickBook } from '../tickBook.ts'

/**
 * `keyFee` is the fee in the pool's key: the providers' fee in ppm, or `DYNAMIC_FEE`. `hooks` is the hook's
 * address, zeros for none.
 */
export type V4Born = {
  readonly family: 'amm_v4'
  readonly keyFee: bigint
  readonly tickSpacing: Tick
  readonly hooks: `0x${string}`
}

/** `book` holds the known ticks; it is the one mutable part and belongs to this pool alone. */
export type V4Terms = V4Born & { readonly book: TickBook }

/**
 * `lpFeePpm` is the providers' fee: the key's, or where a hook sets it the last one seen. `protocolFee` is as the
 * manager packs it, 12 bits for each direction.
 */
export type V4State = {
  readonly family: 'amm_v4'
  readonly sqrtPriceX96: bigint
  readonly tick: Tick
  readonly liquidity: bigint
  readonly lpFeePpm: bigint
  readonly protocolFee: bigint
}

/** Amounts of a Swap are positive into the pool, the negative of what the log says; `feePpm` is the whole fee. */
export type V4Event =
  | { readonly kind: 'INITIALIZE'; readonly sqrtPriceX96: bigint; readonly tick: Tick }
  | {
      readonly kind: 'MODIFY'
      readonly tickLower: Tick
      readonly tickUpper: Tick
      readonly liquidityDelta: bigint
    }
  | {
      readonly kind: 'SWAP'
      readonly amount0: bigint
      readonly amount1: bigint
      readonly sqrtPriceX96: bigint
      readonly liquidity: bigint
      readonly tick: Tick
      readonly feePpm: bigint
    }
  | { readonly kind: 'PROTOCOL_FEE'; readonly protocolFee: bigint }
