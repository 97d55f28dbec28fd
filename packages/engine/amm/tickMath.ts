/**
 * Ticks and square-root prices: sqrt(1.0001^tick) as a Q64.96 integer, bit for bit as the v3 pool contract computes
 * it.
 *
 * The contract multiplies, for each set bit i of |tick| in ascending order, by 1.0001^(-2^i / 2) rounded to the
 * nearest 128-bit fraction, and truncates every product. The factors follow from that rule, so they are computed here
 * and not listed.
 */
import { assert } from '../assert.ts'
import { squareRoot } from '../exact/squareRoot.ts'
import { type Tick, tick as toTick } from '../units.ts'
import { MAX_TICK, MIN_TICK } from './ticks.ts'

/** sqrtRatioAtTick of the first and last tick, spelled out because the contract's limits are these integers. */
export const MIN_SQRT_RATIO = 4295128739n
export const MAX_SQRT_RATIO = 1461446703485210103287273052203988822378723970342n

const FACTOR_BITS = 128n
const UINT256_MAX = (1n << 256n) - 1n

const TICKS_PER_UNIT_OF_LOG = 2 / Math.log(1.0001)

/** |tick| below 2^20 has twenty bits. */
const FACTORS = factors()

/**
 * A direct-mapped cache of recent results, at most 2 MB per worker. It pays because every swap of a pool needs the
 * same few stops; one miss costs about ten hits.
 */
const SLOTS = 1 << 15
// A slot starts with a tick of the neighbouring slot, which no look-up here can request.
const slotTicks = Int32Array.from({ length: SLOTS }, (_, slot) => slot ^ 1)
const slotRatios: bigint[] = Array.from({ length: SLOTS }, () => 0n)

/** The square-root price at which `tick` begins. Rounds up, so that tickAtSqrtRatio of it is `tick` again. */
export function sqrtRatioAtTick(tick: Tick): bigint {
  const slot = tick & (SLOTS - 1)
  if (slotTicks[slot] === tick) return slotRatios[slot] as bigint
  const ratio = computeSqrtRatio(tick)
  slotTicks[slot] = tick
  slotRatios[slot] = ratio
  return ratio
}

/** The greatest tick whose square-root price is at most `sqrtPriceX96`. */
export function tickAtSqrtRatio(sqrtPriceX96: bigint): Tick {
  assert(isSqrtPrice(sqrtPriceX96), () => `sqrt price ${sqrtPriceX96} is outside the contract's range`)
  // The logarithm only chooses where the exact comparison starts: an error costs steps, never correctness.
  const logarithm = Math.log(Number(sqrtPriceX96)) - 96 * Math.LN2
  let tick = Math.floor(logarithm * TICKS_PER_UNIT_OF_LOG)
  tick = Math.min(Math.max(tick, MIN_TICK), MAX_TICK - 1)
  while (sqrtRatioAtTick(toTick(tick)) > sqrtPriceX96) tick--
  while (sqrtRatioAtTick(toTick(tick + 1)) <= sqrtPriceX96) tick++
  return toTick(tick)
}

/** Whether a pool can have this price: the maximum itself is never reached. */
export function isSqrtPrice(sqrtPriceX96: bigint): boolean {
  return sqrtPriceX96 >= MIN_SQRT_RATIO && sqrtPriceX96 < MAX_SQRT_RATIO
}

/**
 * Whether a pool can have this tick at this price. In addition to the tick that contains the price, the one below is
 * possible when the price is exactly where a swap crossed downwards.
 */
export function isTickAt(tick: Tick, sqrtPriceX96: bigint): boolean {
  if (tick < MIN_TICK || tick >= MAX_TICK) return false
  return sqrtRatioAtTick(tick) <= sqrtPriceX96 && sqrtPriceX96 <= sqrtRatioAtTick(toTick(tick + 1))
}

function computeSqrtRatio(tick: Tick): bigint {
  const magnitude = Math.abs(tick)
  assert(magnitude <= MAX_TICK, () => `tick ${tick} is outside the contract's range`)
  let ratio = 1n << FACTOR_BITS
  for (let bits = magnitude, i = 0; bits !== 0; bits >>= 1, i++) {
    if ((bits & 1) === 1) ratio = (ratio * (FACTORS[i] as bigint)) >> FACTOR_BITS
  }
  if (tick > 0) ratio = UINT256_MAX / ratio
  const truncated = ratio >> 32n
  return truncated << 32n === ratio ? truncated : truncated + 1n
}

/** round(2^128 * 1.0001^(-2^i / 2)) for i = 0 … 19, from a root with enough bits for the squarings. */
function factors(): readonly bigint[] {
  const precision = 512n
  let power = squareRoot((10_000n << (2n * precision)) / 10_001n)
  const half = 1n << (precision - FACTOR_BITS - 1n)
  const rounded: bigint[] = []
  for (let i = 0; i < 20; i++) {
    rounded.push((power + half) >> (precision - FACTOR_BITS))
    power = (power * power) >> precision
  }
  return rounded
}
