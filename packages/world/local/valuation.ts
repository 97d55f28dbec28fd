/**
 * Dollars and ratios of the plan as on-chain units. Floats are fine here: they shape the world and are never a
 * published price.
 */
import type { TokenPlan } from './plan.ts'

/** Atomic units of the token worth `usd`. */
export function unitsOf(token: TokenPlan, usd: number): bigint {
  return scaled(usd / token.usd, token.decimals)
}

/** Atomic token1 per atomic token0. */
export const priceOf = (token0: TokenPlan, token1: TokenPlan): number =>
  (token0.usd / token1.usd) * 10 ** (token1.decimals - token0.decimals)

export const tickOf = (price: number): number => Math.floor(Math.log(price) / Math.log(1.0001))

/** Liquidity of a position around the price, `width` ticks to each side, that holds `usd` of token1. */
export function liquidityWorth(token1: TokenPlan, price: number, usd: number, width: number): bigint {
  const root = Math.sqrt(price)
  return BigInt(Math.floor(Number(unitsOf(token1, usd)) / (root - root * 1.0001 ** (-width / 2))))
}

export const sqrtPriceX96 = (price: number): bigint => scaled2(Math.sqrt(price), 96)

/** value × 10^decimals, keeping the double's whole precision. */
function scaled(value: number, decimals: number): bigint {
  const keep = 12
  return (
    BigInt(Math.round(value * 10 ** Math.min(keep, decimals))) *
      10n ** BigInt(Math.max(0, decimals - keep)) || 1n
  )
}

/** value × 2^bits. */
function scaled2(value: number, bits: number): bigint {
  const exponent = Math.max(0, Math.floor(Math.log2(value)) + 1)
  const fraction = 52 - exponent
  return fraction >= 0
    ? BigInt(Math.round(value * 2 ** fraction)) << BigInt(bits - fraction)
    : BigInt(Math.round(value)) << BigInt(bits)
}
