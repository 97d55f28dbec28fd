/** A pool of a Uniswap v4 manager. */
import type { Tick } from '../../units.ts'
import type { Slot, SlotEvent } from '../states.ts'
import type { TickBook } from '../tickBook.ts'

/**
 * `keyFee` is the fee in the pool's key: the providers' fee in ppm, or `DYNAMIC_FEE`. `hooks` is the hook's address,
 * zeros for none. `manager` is the contract that holds the pool. `isNative`: currency 0 is the native currency,
 * represented in token0 by its wrapped token.
 */
export type V4Born = {
  readonly family: 'amm_v4'
  readonly keyFee: bigint
  readonly tickSpacing: Tick
  readonly hooks: `0x${string}`
  readonly isNative: boolean
  readonly manager: `0x${string}`
}

/** `book` holds the known ticks; it is the only mutable part and belongs to this pool alone. */
export type V4Terms = V4Born & { readonly book: TickBook }

/**
 * `lpFeePpm` is the providers' fee: the key's, or the last one seen if a hook sets it. `protocolFee` is as packed by
 * the manager, 12 bits for each direction.
 */
export type V4State = { readonly family: 'amm_v4' } & Slot & {
    readonly lpFeePpm: bigint
    readonly protocolFee: bigint
  }

type Swap = Extract<SlotEvent, { readonly kind: 'SWAP' }>

/** Amounts of a Swap are positive into the pool, the negative of the log's values; `feePpm` is the whole fee. */
export type V4Event =
  | Extract<SlotEvent, { readonly kind: 'INITIALIZE' }>
  | {
      readonly kind: 'MODIFY'
      readonly tickLower: Tick
      readonly tickUpper: Tick
      readonly liquidityDelta: bigint
    }
  | (Swap & { readonly feePpm: bigint })
  | { readonly kind: 'PROTOCOL_FEE'; readonly protocolFee: bigint }

export type V4 = {
  readonly family: 'amm_v4'
  readonly born: V4Born
  readonly terms: V4Terms
  readonly state: V4State
  readonly event: V4Event
}
