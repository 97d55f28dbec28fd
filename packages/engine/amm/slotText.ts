/** Pools with ticks in the wire format. */
import type { SwapSizes } from './adapter.ts'
import type { Side, Slot, SlotEvent } from './states.ts'

export const slotText = ({ sqrtPriceX96, tick, liquidity }: Slot) => ({
  slot: { sqrt_price_x96: sqrtPriceX96.toString(), tick, liquidity: liquidity.toString() },
})

type SlotSwap = Extract<SlotEvent, { readonly kind: 'SWAP' }>

export const netsOf = ({ amount0, amount1 }: SlotSwap): readonly [bigint, bigint] => [amount0, amount1]

/** The one log of a swap that ended at this slot. */
export const slotSwapped = (
  side: Side,
  { amountIn, amountOut }: SwapSizes,
  { sqrtPriceX96, tick, liquidity }: Slot,
): SlotSwap[] => [
  {
    kind: 'SWAP',
    amount0: side === 0 ? amountIn : -amountOut,
    amount1: side === 1 ? amountIn : -amountOut,
    sqrtPriceX96,
    liquidity,
    tick,
  },
]

export const swapText = ({ amount0, amount1, sqrtPriceX96, liquidity, tick }: SlotSwap) => ({
  amount0: amount0.toString(),
  amount1: amount1.toString(),
  sqrt_price_x96: sqrtPriceX96.toString(),
  liquidity: liquidity.toString(),
  tick,
})
