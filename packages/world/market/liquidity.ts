/**
 * A pool's initial amounts: the reserves of a pair, or the positions of a concentrated pool.
 *
 * Both sides hold the planned dollars at the planned price. Floats choose the sizes; from there on everything is
 * bigints and the adapters' own rules.
 */
import type { V2State, V2Terms } from '../../engine/amm/v2/kind.ts'
import type { V3State, V3Terms } from '../../engine/amm/v3/kind.ts'
import * as tickBook from '../../engine/amm/tickBook.ts'
import { sqrtRatioAtTick } from '../../engine/amm/tickMath.ts'
import { MAX_TICK, MIN_TICK } from '../../engine/amm/ticks.ts'
import { type Tick, tick as toTick } from '../../engine/units.ts'
import type { Random } from '../random.ts'
import * as draw from './draw.ts'
import type { Tier } from './graph.ts'
import { EMPTY_SHARE, WIDTH_DEVIATION, WIDTH_TICKS } from './shape.ts'

/** The value of one atomic unit of each token. */
type UnitPrices = { readonly unit0Usd: number; readonly unit1Usd: number }

type StartV2 = { readonly terms: V2Terms; readonly amm: V2State }
type StartV3 = { readonly terms: V3Terms; readonly amm: V3State }

const SPACINGS = { 100: 1, 500: 10, 3000: 60, 10000: 200 } as const

const V2_TERMS: V2Terms = { family: 'amm_v2', fee: { numerator: 997n, denominator: 1000n } }

/** Keeps trading possible wherever the price goes, as the few full-range positions of real pools do. */
const FULL_RANGE_SHARE = 0.3

/**
 * Positions grow roughly with the square root of a pool's dollars: 3 at 5,000, 15 at a million, 80 at 50 million, and
 * three times that for anchors, which attract more providers. Not counted from data: USDC/WETH 500 had 21 initialised
 * ticks within its first 101 events.
 */
const POSITIONS = { at: 3_000, exponent: 0.45, deviation: 0.6, most: 400, anchorFactor: 3 } as const

/** For one position: even at the ends of the price range all of them together stay within the pool's 128 bits. */
const MOST_LIQUIDITY = 2 ** 112

export function startV2(random: Random, sideUsd: number, prices: UnitPrices): StartV2 {
  if (sideUsd > 0) {
    const reserve0 = toUnits(sideUsd / prices.unit0Usd)
    const reserve1 = toUnits(sideUsd / prices.unit1Usd)
    return { terms: V2_TERMS, amm: { family: 'amm_v2', reserve0, reserve1 } }
  }
  const isEmpty = draw.isWithin(random, EMPTY_SHARE)
  const rest = (): bigint => (isEmpty ? 0n : toUnits(draw.logUniform(random, 1, 1_000)))
  return { terms: V2_TERMS, amm: { family: 'amm_v2', reserve0: rest(), reserve1: rest() } }
}

export function startV3(
  random: Random,
  tier: Tier,
  sideUsd: number,
  prices: UnitPrices,
  isAnchor: boolean,
): StartV3 {
  const tickSpacing = toTick(SPACINGS[tier])
  const price = prices.unit0Usd / prices.unit1Usd
  const tick = toTick(Math.floor(Math.log(price) / Math.log(1.0001)))
  const lowerX96 = sqrtRatioAtTick(tick)
  const upperX96 = sqrtRatioAtTick(toTick(tick + 1))
  const sqrtPriceX96 = lowerX96 + (((upperX96 - lowerX96) * BigInt(random.uint32())) >> 32n)

  const ticks = new Map<Tick, tickBook.TickEntry>()
  const note = (at: Tick, gross: bigint, net: bigint): void => {
    const before = ticks.get(at)
    ticks.set(at, { tick: at, gross: (before?.gross ?? 0n) + gross, net: (before?.net ?? 0n) + net })
  }
  let liquidity = 0n
  for (const { lower, upper, share } of sideUsd > 0
    ? drawPositions(random, tier, tick, sideUsd, isAnchor)
    : []) {
    const asked = (2 * sideUsd * share) / (valuePerLiquidity(price, lower, upper) * prices.unit1Usd)
    const amount = toUnits(Math.min(asked, MOST_LIQUIDITY))
    note(lower, amount, amount)
    note(upper, amount, -amount)
    if (lower <= tick && tick < upper) liquidity += amount
  }
  const book = new tickBook.TickBook(tickSpacing, tickBook.FULL_RANGE, ticks.values())
  return {
    terms: { family: 'amm_v3', feePpm: BigInt(tier), tickSpacing, book },
    amm: { family: 'amm_v3', sqrtPriceX96, tick, liquidity },
  }
}

type Position = { readonly lower: Tick; readonly upper: Tick; readonly share: number }

/** One over the full range, the others around the price, most of them across it; shares add up to 1. */
function drawPositions(
  random: Random,
  tier: Tier,
  tick: Tick,
  sideUsd: number,
  isAnchor: boolean,
): Position[] {
  const { at, exponent, deviation, most, anchorFactor } = POSITIONS
  const usual = (1.5 + (sideUsd / at) ** exponent) * (isAnchor ? anchorFactor : 1)
  const narrow = Math.min(most, Math.round(draw.logNormal(random, usual, deviation)))
  const spacing = SPACINGS[tier]
  const full = {
    lower: toTick(Math.ceil(MIN_TICK / spacing) * spacing),
    upper: toTick(Math.floor(MAX_TICK / spacing) * spacing),
  }
  const weights = Array.from({ length: narrow }, () => draw.logNormal(random, 1, 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const others = weights.map((weight): Position => {
    const width = Math.max(spacing, draw.logNormal(random, WIDTH_TICKS[tier], WIDTH_DEVIATION))
    const centre = tick + 0.4 * width * draw.normal(random)
    const asked = Math.floor((centre - width / 2) / spacing) * spacing
    const lower = Math.min(Math.max(full.lower, asked), full.upper - spacing)
    const upper = Math.min(full.upper, lower + Math.ceil(width / spacing) * spacing)
    return { lower: toTick(lower), upper: toTick(upper), share: ((1 - FULL_RANGE_SHARE) * weight) / total }
  })
  return [{ ...full, share: narrow === 0 ? 1 : FULL_RANGE_SHARE }, ...others]
}

/** Both tokens of one unit of liquidity, in atomic units of token1 (whitepaper 6.29 and 6.30). */
function valuePerLiquidity(price: number, lower: Tick, upper: Tick): number {
  const root = Math.sqrt(price)
  const [low, high] = [1.0001 ** (lower / 2), 1.0001 ** (upper / 2)]
  const here = Math.min(Math.max(root, low), high)
  return here - low + price * (1 / here - 1 / high)
}

/** Rounds down, but never to zero. */
export function toUnits(amount: number): bigint {
  return amount < 1 ? 1n : BigInt(Math.floor(amount))
}
