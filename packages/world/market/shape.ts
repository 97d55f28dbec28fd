/**
 * The shape of a real market, as constants.
 *
 * Unless a comment says otherwise they were counted from the first 10,773 pairs of the Uniswap v2 factory on
 * Ethereum with their reserves of autumn 2020, 9,170 tokens (ccyanxyz/uniswap-arbitrage-analysis,
 * src/files/pairs.json at 15931338). Dollars: stables at 1, WETH at the 336.6 of its own USDC pair; a pool's
 * size is the dollars on its WETH or stable side. The data itself is not kept here.
 */

/** `[value, how often]`. */
export type Weighted<Value> = readonly (readonly [Value, number])[]

/** Share of all pools: 8,825 with WETH, 959 with a stable and without WETH, 989 with neither. */
export const PARTNERS = { wrapped: 0.819, stable: 0.089, other: 0.092 } as const

/** Share of each token's first pool: 8,822 of 9,166 tokens have one with WETH, and only 130 one with neither. */
export const FIRST_PARTNERS = { wrapped: 0.962, stable: 0.024, other: 0.014 } as const

/** USDT 467 pairs, DAI 253, USDC 245; by index in the list of stables, which has USDC first. */
export const STABLE_WEIGHTS: Weighted<number> = [
  [0, 245],
  [1, 467],
  [2, 253],
]

/** 66.5% of the tokens have less than a dollar in any pool, mostly a few atomic units; 0.4% have none. */
export const DRAINED_SHARE = 0.665
export const EMPTY_SHARE = 0.004

/** Dollars on one side of the other 35%, `[quantile, dollars]`; log-linear in between. */
export const SIZE_QUANTILES: readonly (readonly [number, number])[] = [
  [0, 1],
  [0.05, 3.366],
  [0.1, 7.218],
  [0.2, 28.43],
  [0.3, 67.32],
  [0.4, 193.5],
  [0.5, 552.4],
  [0.6, 1_782],
  [0.7, 5_812],
  [0.8, 19_200],
  [0.9, 73_960],
  [0.95, 198_800],
  [0.98, 611_600],
  [0.99, 1_278_000],
  [0.995, 2_316_000],
  // The three pools above this are anchors of 150 to 200 million, which a market creates separately.
  [1, 25_000_000],
]

/** Tokens by decimals; the 40 rarest, up to 24, are omitted. */
export const DECIMALS: Weighted<number> = [
  [18, 7_716],
  [8, 493],
  [0, 231],
  [4, 143],
  [6, 131],
  [9, 96],
  [2, 95],
  [15, 53],
  [10, 43],
  [3, 39],
  [5, 35],
  [12, 29],
  [16, 18],
  [1, 14],
  [7, 13],
  [14, 9],
  [13, 6],
]

/** log10 of a token's price in dollars, over the 1,883 WETH pairs with at least 100 dollars on a side. */
export const LOG10_PRICE = { mean: -0.963, deviation: 2.18, least: -7, greatest: 5 } as const

/**
 * Which tokens get a second, third, … pool. Zipf's law over tokens by size, with noise: fitted to 90% of the tokens
 * having one pool, 497 of them two, and the largest twentieth 3.35 on average.
 */
export const EXTRA_EVEN_SHARE = 0.05
export const EXTRA_EXPONENT = 1.15
export const FAME_DEVIATION = 3

/** A later pool of a token next to its first: fitted to 11% of the pools having 5,000 dollars on a side. */
export const LATER_SIZE = { median: 0.05, deviation: 1.5 } as const

/**
 * Fee tiers of v3 pools away from the anchors. Not in the data: the order of magnitude of Ethereum's factory, where
 * the long tail uses 1% and 0.3%.
 */
export const TIER_WEIGHTS: Weighted<100 | 500 | 3000 | 10000> = [
  [100, 3],
  [500, 12],
  [3000, 40],
  [10000, 45],
]

/**
 * Width of v3 positions in ticks: the median by tier, and the deviation of its logarithm. The first 101 events
 * of USDC/WETH 500 have a median of 1,830 ticks with quartiles 120 and 6,930, the first of ENS/WETH 3000 one of
 * 14,220; the other two tiers are set by the same proportion to their spacing, narrower for pegged pairs.
 */
export const WIDTH_TICKS = { 100: 200, 500: 1_800, 3000: 14_000, 10000: 20_000 } as const
export const WIDTH_DEVIATION = 1.3

/** The following values are choices, not counts; each comment explains what the value represents. */

/** Trades per pool fall off as rank^-1 (a few pools have most of the volume), flattened at the very top. */
export const POPULARITY = { exponent: 1, offset: 3 } as const

/** Dollars of a trade: a median of 300 with a tail into the hundred thousands. */
export const TRADE_USD = { median: 300, deviation: 1.6 } as const
