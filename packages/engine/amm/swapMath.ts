/**
 * One step of a v3 swap: the price moves towards a target while liquidity is constant, until the amount is used up or
 * the target is reached.
 *
 * The direction follows from the target: below the current price, token0 is the input. Input is measured without the
 * fee and rounds up, output rounds down, the fee rounds up.
 *
 * No step can fail for a price in range, whatever the liquidity: a price is computed from an amount only when that
 * amount does not reach the target, and then it is between the two. With zero liquidity every amount reaches the
 * target.
 */
import type { Side } from './states.ts'
import * as sqrtPriceMath from './sqrtPriceMath.ts'

export type Step = {
  readonly sqrtPriceX96: bigint
  /** Gross: includes the fee. */
  readonly amountIn: bigint
  readonly amountOut: bigint
}

export const PPM = 1_000_000n
const Q96_LESS_ONE = (1n << 96n) - 1n

/** The share of the input that trades, in millionths: the fee argument of the steps below. */
export function tradingPpm(feePpm: bigint): bigint {
  return PPM - feePpm
}

/** The fee rounds up on its own in the contract; input and fee together are one division, rounded up. */
export function withFee(netInput: bigint, tradingPpm: bigint): bigint {
  // Nothing is paid through an empty stretch, even when all of the input would be the fee.
  if (netInput === 0n) return 0n
  return (netInput * PPM + (tradingPpm - 1n)) / tradingPpm
}

/** Moves to the target, whatever input that takes. */
export function toTarget(currentX96: bigint, targetX96: bigint, liquidity: bigint, tradingPpm: bigint): Step {
  // Both amounts come from one product, liquidity times distance, which dominates the cost of a walk.
  if (sideOf(currentX96, targetX96) === 0) {
    const area = liquidity * (currentX96 - targetX96)
    const needed = sqrtPriceMath.divideUp(area << 96n, currentX96 * targetX96)
    return { sqrtPriceX96: targetX96, amountIn: withFee(needed, tradingPpm), amountOut: area >> 96n }
  }
  const area = liquidity * (targetX96 - currentX96)
  const needed = (area + Q96_LESS_ONE) >> 96n
  const amountOut = (area << 96n) / (currentX96 * targetX96)
  return { sqrtPriceX96: targetX96, amountIn: withFee(needed, tradingPpm), amountOut }
}

/** At most `remaining` gross units of input. Short of the target all of it is consumed: the fee is the remainder. */
export function exactIn(
  currentX96: bigint,
  targetX96: bigint,
  liquidity: bigint,
  remaining: bigint,
  tradingPpm: bigint,
): Step {
  const side = sideOf(currentX96, targetX96)
  // The fee is deducted first and rounds in the pool's favour, so the trading amount rounds down.
  const trading = (remaining * tradingPpm) / PPM
  const needed = inputBetween(side, currentX96, targetX96, liquidity)
  if (trading >= needed) return toTarget(currentX96, targetX96, liquidity, tradingPpm)
  const sqrtPriceX96 =
    side === 0
      ? sqrtPriceMath.afterInput0(currentX96, liquidity, trading)
      : sqrtPriceMath.afterInput1(currentX96, liquidity, trading)
  const amountOut = outputBetween(side, currentX96, sqrtPriceX96, liquidity)
  return { sqrtPriceX96, amountIn: remaining, amountOut }
}

/** At most `remaining` units of output. */
export function exactOut(
  currentX96: bigint,
  targetX96: bigint,
  liquidity: bigint,
  remaining: bigint,
  tradingPpm: bigint,
): Step {
  const side = sideOf(currentX96, targetX96)
  const available = outputBetween(side, currentX96, targetX96, liquidity)
  if (remaining >= available) return toTarget(currentX96, targetX96, liquidity, tradingPpm)
  const sqrtPriceX96 =
    side === 0
      ? sqrtPriceMath.afterOutput1(currentX96, liquidity, remaining)
      : sqrtPriceMath.afterOutput0(currentX96, liquidity, remaining)
  // Rounding moved the price past the requested output; the surplus stays in the pool.
  const needed = inputBetween(side, currentX96, sqrtPriceX96, liquidity)
  return { sqrtPriceX96, amountIn: withFee(needed, tradingPpm), amountOut: remaining }
}

function sideOf(currentX96: bigint, targetX96: bigint): Side {
  return currentX96 >= targetX96 ? 0 : 1
}

/** Without the fee. */
export function inputBetween(side: Side, fromX96: bigint, toX96: bigint, liquidity: bigint): bigint {
  return side === 0
    ? sqrtPriceMath.amount0Up(toX96, fromX96, liquidity)
    : sqrtPriceMath.amount1Up(fromX96, toX96, liquidity)
}

function outputBetween(side: Side, fromX96: bigint, toX96: bigint, liquidity: bigint): bigint {
  return side === 0
    ? sqrtPriceMath.amount1Down(toX96, fromX96, liquidity)
    : sqrtPriceMath.amount0Down(fromX96, toX96, liquidity)
}
