/**
 * Converts dollars of an attack to amounts of pools: a depth, a price or a band as reserves, ticks and liquidity. In
 * doubles, because this market's prices are never published.
 */

/** Decimals and dollars of a token as planned. */
export type Coin = { readonly decimals: number; readonly usd: number }

const UP = Math.sqrt(1.02) - 1

export const unitsOf = ({ decimals, usd }: Coin, dollars: number): bigint =>
  BigInt(Math.round((dollars / usd) * 10 ** decimals))

/** Units of both sides of a pair in which `depth` dollars move the price by 2%. */
export const pairOf = (token: Coin, other: Coin, depth: number): readonly [bigint, bigint] => [
  unitsOf(token, depth / UP),
  unitsOf(other, depth / UP),
]

/** Units of token1 for a unit of token0. */
export const rawPrice = (token0: Coin, token1: Coin): number =>
  (token0.usd / token1.usd) * 10 ** (token1.decimals - token0.decimals)

export const tickOf = (raw: number): number => Math.log(raw) / Math.log(1.0001)

export const snap = (tick: number, spacing: number): number => Math.round(tick / spacing) * spacing

/** Liquidity with which `depth` dollars of token1 move the price by 2%. */
export const liquidityOf = (token1: Coin, raw: number, depth: number): bigint =>
  BigInt(Math.round(Number(unitsOf(token1, depth)) / (Math.sqrt(raw) * UP)))
