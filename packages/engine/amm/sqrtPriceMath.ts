/**
 * The token amounts of a price move between two square-root prices, and the price after a given amount of a token,
 * for constant liquidity L.
 *
 * With s = sqrt price * 2^96: amount0 = L * 2^96 * (1/s_lower - 1/s_upper), amount1 = L * (s_upper - s_lower) / 2^96.
 * Every rounding favours the pool: inputs round up, outputs round down, a price reached by an input stops short of
 * the exact one, and a price reached for an output goes past it.
 */
import { assert } from '../assert.ts'

export const UINT128_MAX = (1n << 128n) - 1n
const UINT160_MAX = (1n << 160n) - 1n
const UINT256_MAX = (1n << 256n) - 1n

const RESOLUTION = 96n
const Q96_LESS_ONE = (1n << RESOLUTION) - 1n

/** Rounds up; the numerator is not negative, the denominator positive. */
export function divideUp(numerator: bigint, denominator: bigint): bigint {
  return numerator === 0n ? 0n : (numerator - 1n) / denominator + 1n
}

/**
 * The contract divides by the upper and then by the lower price, rounding up twice. Two ceilings in a row are
 * the ceiling of one division by the product, so a single division gives the same unit.
 */
export function amount0Up(lowerX96: bigint, upperX96: bigint, liquidity: bigint): bigint {
  return divideUp((liquidity * (upperX96 - lowerX96)) << RESOLUTION, lowerX96 * upperX96)
}

/** Floors nest as ceilings do. */
export function amount0Down(lowerX96: bigint, upperX96: bigint, liquidity: bigint): bigint {
  return ((liquidity * (upperX96 - lowerX96)) << RESOLUTION) / (lowerX96 * upperX96)
}

export function amount1Up(lowerX96: bigint, upperX96: bigint, liquidity: bigint): bigint {
  return (liquidity * (upperX96 - lowerX96) + Q96_LESS_ONE) >> RESOLUTION
}

export function amount1Down(lowerX96: bigint, upperX96: bigint, liquidity: bigint): bigint {
  return (liquidity * (upperX96 - lowerX96)) >> RESOLUTION
}

/**
 * The lower price after token0 is added: L*s / (L + amount*s), rounded up so that the price moves no further than the
 * input pays for.
 *
 * Where the contract's 256-bit product or sum would overflow, it computes L / (L/s + amount) instead, whose inner
 * division truncates. The result differs, so the branch must match the contract's.
 */
export function afterInput0(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  // The general formula would round up past the starting price.
  if (amount === 0n) return sqrtPriceX96
  const numerator = liquidity << RESOLUTION
  const denominator = numerator + amount * sqrtPriceX96
  if (denominator <= UINT256_MAX) return divideUp(numerator * sqrtPriceX96, denominator)
  return divideUp(numerator, numerator / sqrtPriceX96 + amount)
}

/** The higher price after token0 is withdrawn: L*s / (L - amount*s), rounded up so that the output is covered. */
export function afterOutput0(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  if (amount === 0n) return sqrtPriceX96
  const numerator = liquidity << RESOLUTION
  const product = amount * sqrtPriceX96
  assert(product < numerator, () => `liquidity ${liquidity} cannot pay ${amount} of token0`)
  const price = divideUp(numerator * sqrtPriceX96, numerator - product)
  assert(price <= UINT160_MAX, () => `${amount} of token0 moves the price past 160 bits`)
  return price
}

/** The higher price after token1 is added, rounded down so that the price moves no further than the input pays for. */
export function afterInput1(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  const price = sqrtPriceX96 + (amount << RESOLUTION) / liquidity
  assert(price <= UINT160_MAX, () => `${amount} of token1 moves the price past 160 bits`)
  return price
}

/** The lower price after token1 is withdrawn: the distance rounds up so that the output is covered. */
export function afterOutput1(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  const distance = divideUp(amount << RESOLUTION, liquidity)
  assert(distance < sqrtPriceX96, () => `liquidity ${liquidity} cannot pay ${amount} of token1`)
  return sqrtPriceX96 - distance
}
