/**
 * The last square-root price inside a boundary on the price.
 *
 * A boundary r on the price is sqrt(r) on the square-root price s, irrational for 102/100 and rational for 121/100.
 * The upper limit is the greatest integer at most s*sqrt(r), the lower limit the smallest at least s*sqrt(r); a price
 * exactly on the boundary is inside.
 *
 * The root of r is computed once per boundary, to 192 bits. Its product with s is an interval less than one wide, and
 * the squares are needed only when that interval contains an integer.
 */
import { once } from '../exact/once.ts'
import type { Boundary } from './adapter.ts'
import type { Side } from './states.ts'
import { assert } from '../assert.ts'
import type { Fraction } from '../exact/fraction.ts'
import { squareRoot } from '../exact/squareRoot.ts'
import { type Tick, tick as toTick } from '../units.ts'
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO, tickAtSqrtRatio } from './tickMath.ts'

/** The square root of a boundary. */
export type BoundaryRoot = {
  readonly square: Fraction
  /** floor(root * 2^192) */
  readonly scaled: bigint
  /** Approximate distance of the limit in ticks: a starting point for the search, never a result. */
  readonly ticks: Tick
}

/** A pool's two limits for one orientation: `below` is reached with token0, `above` with token1. */
export type RootPair = { readonly below: BoundaryRoot; readonly above: BoundaryRoot }

const SCALE_BITS = 192n

/** A swap stops one short of the ends of the price range. */
export const LOWEST_LIMIT = MIN_SQRT_RATIO + 1n
export const HIGHEST_LIMIT = MAX_SQRT_RATIO - 1n

/** The limit of a swap without one of its own: the end of the range, or the price if it is already beyond that. */
export function extremeLimit(sqrtPriceX96: bigint, side: Side): bigint {
  if (side === 0) return sqrtPriceX96 < LOWEST_LIMIT ? sqrtPriceX96 : LOWEST_LIMIT
  return sqrtPriceX96 > HIGHEST_LIMIT ? sqrtPriceX96 : HIGHEST_LIMIT
}

const rootsByBoundary = new WeakMap<Boundary, readonly [RootPair, RootPair]>()

/**
 * The roots of a boundary with X = token `x`. With X = token1 the oriented price is the reciprocal of the
 * pool's: raising it by 102/100 lowers the pool's to 100/102.
 */
export const rootsOf = (boundary: Boundary, x: Side): RootPair =>
  once(rootsByBoundary, boundary, rootPairs)[x]

function rootPairs({ up, down }: Boundary): readonly [RootPair, RootPair] {
  const pairs = [
    { below: rootOf(down), above: rootOf(up) },
    { below: rootOf(reciprocal(up)), above: rootOf(reciprocal(down)) },
  ] as const
  for (const { below, above } of pairs) {
    assert(below.square.num <= below.square.den, () => `${up.num}/${up.den} up is below the price`)
    assert(above.square.num >= above.square.den, () => `${down.num}/${down.den} down is above the price`)
  }
  return pairs
}

export function rootOf(square: Fraction): BoundaryRoot {
  const { num, den } = square
  assert(num > 0n && den > 0n, () => `boundary ${num}/${den} is not positive`)
  const scaled = squareRoot((num << (2n * SCALE_BITS)) / den)
  const atUnitPrice = scaled >> (SCALE_BITS - 96n)
  const ticks = tickAtSqrtRatio(between(atUnitPrice, MIN_SQRT_RATIO, HIGHEST_LIMIT))
  return { square, scaled, ticks: toTick(ticks) }
}

/** The smallest integer at least s*root, for a falling price; never below the range of swaps. */
export function limitBelow(sqrtPriceX96: bigint, root: BoundaryRoot): bigint {
  const floor = floorProduct(sqrtPriceX96, root)
  const { num, den } = root.square
  // A rational multiple may be an integer, an irrational one never is.
  const isWhole = floor * floor * den === sqrtPriceX96 * sqrtPriceX96 * num
  const limit = isWhole ? floor : floor + 1n
  return limit < LOWEST_LIMIT ? LOWEST_LIMIT : limit
}

/** The greatest integer at most s*root, for a rising price; never above the range of swaps. */
export function limitAbove(sqrtPriceX96: bigint, root: BoundaryRoot): bigint {
  const limit = floorProduct(sqrtPriceX96, root)
  return limit > HIGHEST_LIMIT ? HIGHEST_LIMIT : limit
}

/** scaled <= root * 2^192 < scaled + 1, so s*root lies between two products that differ by s / 2^192 < 1. */
function floorProduct(sqrtPriceX96: bigint, { square, scaled }: BoundaryRoot): bigint {
  const product = sqrtPriceX96 * scaled
  const low = product >> SCALE_BITS
  const high = (product + sqrtPriceX96) >> SCALE_BITS
  if (low === high) return low
  return high * high * square.den <= sqrtPriceX96 * sqrtPriceX96 * square.num ? high : low
}

function reciprocal({ num, den }: Fraction): Fraction {
  return { num: den, den: num }
}

function between(value: bigint, low: bigint, high: bigint): bigint {
  return value < low ? low : value > high ? high : value
}
