/**
 * Whether the Swap event of a pool with ticks follows from the state before it.
 *
 * The log does not state the order, so three kinds are tried: exact input, exact output, and an unlimited amount that
 * ended at its price limit. One of them must give every field of the event.
 */
import { type Check, type Difference, differing, VERIFIED } from './adapter.ts'
import type { Side, Slot } from './states.ts'
import * as priceLimit from './priceLimit.ts'
import * as swapLoop from './swapLoop.ts'
import * as swapMath from './swapMath.ts'
import { isSqrtPrice, isTickAt, sqrtRatioAtTick } from './tickMath.ts'

const ONE_UNIT: swapLoop.Order = { kind: 'EXACT_IN', amount: 1n }

/** The event's fields, named as in `swapLoop.Swap`; `side` is the result of `sideOf`. */
export function checkSwap(pricing: swapLoop.Pricing, state: Slot, side: Side, event: swapLoop.Swap): Check {
  if (state.sqrtPriceX96 === 0n || !isSqrtPrice(event.sqrtPriceX96)) {
    return { verdict: 'unverified', differences: differencesOf(event, standingStill(state)) }
  }
  if (!isTickAt(state.tick, state.sqrtPriceX96)) return { verdict: 'incomplete', differences: [] }
  const amountIn = side === 0 ? event.amount0 : event.amount1
  const amountOut = side === 0 ? -event.amount1 : -event.amount0
  const endX96 = event.sqrtPriceX96

  let nearest: readonly Difference[] | null = null
  let isIncomplete = false
  const fits = (way: swapLoop.Order, limitX96: bigint): boolean => {
    const result = swapLoop.swap(pricing, state, side, way, limitX96)
    if ('reason' in result) {
      isIncomplete ||= way.kind === 'TO_LIMIT' || !isWalkDecisive(pricing, state, side, endX96)
      return false
    }
    const differences = differencesOf(event, result)
    if (differences.length === 0) return true
    if (nearest === null || differences.length < nearest.length) nearest = differences
    return false
  }

  const extreme = priceLimit.extremeLimit(state.sqrtPriceX96, side)
  if (amountIn > 0n && fits({ kind: 'EXACT_IN', amount: amountIn }, extreme)) return VERIFIED
  // If all of the input is the fee, there is no output, and the price moves only through empty ticks, at no cost.
  const isWholeFee = pricing.feePpm >= swapMath.PPM
  if (!isWholeFee && amountOut > 0n && fits({ kind: 'EXACT_OUT', amount: amountOut }, extreme))
    return VERIFIED
  const canEndThere =
    side === 0
      ? endX96 >= extreme && endX96 <= state.sqrtPriceX96
      : endX96 <= extreme && endX96 >= state.sqrtPriceX96
  if (canEndThere && fits(isWholeFee ? ONE_UNIT : swapLoop.TO_LIMIT, endX96)) return VERIFIED
  if (isIncomplete) return { verdict: 'incomplete', differences: [] }
  return { verdict: 'unverified', differences: nearest ?? differencesOf(event, standingStill(state)) }
}

/** The input token determines the side; a swap through empty ticks moves only the price. */
export function sideOf(state: Slot, event: swapLoop.Swap): Side {
  if (event.amount0 > 0n) return 0
  if (event.amount1 > 0n) return 1
  return event.sqrtPriceX96 <= state.sqrtPriceX96 ? 0 : 1
}

/**
 * An exact amount may run out of the known ticks merely because it was not the amount swapped. If the event's own
 * price is well inside them, the real swap stayed there too, and running out proves that this was a different swap.
 */
function isWalkDecisive({ book }: swapLoop.Pricing, state: Slot, side: Side, endX96: bigint): boolean {
  if (endX96 === state.sqrtPriceX96) return false
  return side === 0 ? endX96 > sqrtRatioAtTick(book.lowest) : endX96 < sqrtRatioAtTick(book.highest)
}

const standingStill = (state: Slot): swapLoop.Swap => ({ ...state, amount0: 0n, amount1: 0n })

const differencesOf = (event: swapLoop.Swap, computed: swapLoop.Swap): readonly Difference[] =>
  differing([
    ['amount0', event.amount0, computed.amount0],
    ['amount1', event.amount1, computed.amount1],
    ['sqrtPriceX96', event.sqrtPriceX96, computed.sqrtPriceX96],
    ['tick', BigInt(event.tick), BigInt(computed.tick)],
    ['liquidity', event.liquidity, computed.liquidity],
  ])
