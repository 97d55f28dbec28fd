/** The curve of pools with ticks, for any such family: swaps and depth, exact to the unit. */
import { type Check, INCOMPLETE, type Incomplete, type Kind, type Maths } from './adapter.ts'
import type { Side, Slot } from './states.ts'
import { assert } from '../assert.ts'
import type { Fraction } from '../exact/fraction.ts'
import { type Tick, tick as toTick } from '../units.ts'
import * as priceLimit from './priceLimit.ts'
import * as swapLoop from './swapLoop.ts'
import type { TickBook } from './tickBook.ts'
import { isTickAt } from './tickMath.ts'

/** A family of pools with ticks: its state is a slot and any further fields, its terms have a book. */
export type SlotKind = Kind & {
  readonly terms: { readonly tickSpacing: Tick; readonly book: TickBook }
  readonly state: Slot
}

/** The differences between such families. */
export type Curve<K extends SlotKind> = {
  /** Inputs of a swap of token `side`: the book, and its whole fee in this state. */
  pricing(terms: K['terms'], state: K['state'], side: Side): swapLoop.Pricing
  /** The state with another slot. */
  moved(state: K['state'], slot: Slot): K['state']
  /** Whether a swap event follows from the state before it. */
  check(terms: K['terms'], state: K['state'], event: swapLoop.Swap): Check
}

/** Walking up to this many initialised ticks takes microseconds, which does not justify the memory of an index. */
const WALKED_TICKS = 6

/** An amount has 256 bits. A search that doubles and then halves its step ends within this many steps. */
const SEARCH_STEPS = 512

export function concentrated<K extends SlotKind>(curve: Curve<K>): Omit<Maths<K>, 'apply'> {
  return {
    isLive: (_terms, state) => state.sqrtPriceX96 > 0n && state.liquidity > 0n,

    marginal,

    swapExactIn(terms, state, side, amountIn) {
      assert(amountIn >= 0n, () => `an input of ${amountIn}`)
      if (state.sqrtPriceX96 === 0n) return { amountIn: 0n, amountOut: 0n, state }
      if (!isCoherent(state)) return INCOMPLETE
      const result = swapExact(curve.pricing(terms, state, side), state, side, {
        kind: 'EXACT_IN',
        amount: amountIn,
      })
      if ('reason' in result) return result
      return {
        amountIn: side === 0 ? result.amount0 : result.amount1,
        amountOut: outputOf(result, side),
        state: curve.moved(state, result),
      }
    },

    smallestInput(terms, state, side, amountOut) {
      if (amountOut === 0n) return 0n
      if (state.sqrtPriceX96 === 0n) return null
      if (!isCoherent(state)) return INCOMPLETE
      const own = curve.pricing(terms, state, side)
      const result = swapExact(own, state, side, { kind: 'EXACT_OUT', amount: amountOut })
      if ('reason' in result) return result
      if (outputOf(result, side) < amountOut) return null
      const start = side === 0 ? result.amount0 : result.amount1
      return smallestFrom(start, input => {
        const trial = swapExact(own, state, side, { kind: 'EXACT_IN', amount: input })
        return 'reason' in trial ? trial : outputOf(trial, side) >= amountOut
      })
    },

    depth(terms, state, x, boundary) {
      if (state.sqrtPriceX96 === 0n) return { up: 0n, down: 0n }
      if (!isCoherent(state)) return INCOMPLETE
      const { below, above } = priceLimit.rootsOf(boundary, x)
      const limitBelow = priceLimit.limitBelow(state.sqrtPriceX96, below)
      const token0 = inputTo(curve.pricing(terms, state, 0), state, 0, limitBelow, below.ticks)
      if (typeof token0 !== 'bigint') return token0
      const limitAbove = priceLimit.limitAbove(state.sqrtPriceX96, above)
      const token1 = inputTo(curve.pricing(terms, state, 1), state, 1, limitAbove, above.ticks)
      if (typeof token1 !== 'bigint') return token1
      return x === 0 ? { up: token1, down: token0 } : { up: token0, down: token1 }
    },
  }
}

/** A separate function: a reader who recomputes a price from a published slot needs neither ticks nor swaps. */
export function marginal({ sqrtPriceX96 }: Slot): Fraction {
  assert(sqrtPriceX96 > 0n, 'a pool without a price has no marginal price')
  return { num: sqrtPriceX96 * sqrtPriceX96, den: 1n << 192n }
}

/**
 * An event that we cannot recompute may leave a price and a tick that cannot belong together; the pool then has to be
 * reloaded.
 */
function isCoherent(state: Slot): boolean {
  return isTickAt(state.tick, state.sqrtPriceX96)
}

/** The gross input of token `side` that brings the price to the limit. */
function inputTo(
  pricing: swapLoop.Pricing,
  state: Slot,
  side: Side,
  limitX96: bigint,
  ticks: Tick,
): bigint | Incomplete {
  const isAhead = side === 0 ? limitX96 < state.sqrtPriceX96 : limitX96 > state.sqrtPriceX96
  if (!isAhead) return 0n
  const { book, feePpm } = pricing
  if (book.hasDepthIndex || hasManyTicks(pricing, state, ticks)) {
    const input = book.depthIndex(side, feePpm).inputTo(state, side, limitX96, ticks)
    if (input !== null) return input
  }
  const result = swapLoop.swap(pricing, state, side, swapLoop.TO_LIMIT, limitX96)
  if ('reason' in result) return result
  return side === 0 ? result.amount0 : result.amount1
}

function hasManyTicks({ book }: swapLoop.Pricing, { tick }: Slot, ticks: Tick): boolean {
  const here = book.positionAtOrBelow(tick)
  const there = book.positionAtOrBelow(toTick(tick + ticks))
  return Math.abs(here - there) > WALKED_TICKS
}

function swapExact(
  pricing: swapLoop.Pricing,
  state: Slot,
  side: Side,
  order: swapLoop.Order,
): swapLoop.Swap | Incomplete {
  return swapLoop.swap(pricing, state, side, order, priceLimit.extremeLimit(state.sqrtPriceX96, side))
}

function outputOf(result: swapLoop.Swap, side: Side): bigint {
  return side === 0 ? -result.amount1 : -result.amount0
}

/**
 * The smallest sufficient input. More input never gives less output, so a sufficient input next to an insufficient
 * one proves the result. The exact-output swap needs that input or slightly more: it consumes a whole segment where a
 * part gives the same output, and it ignores the contract's overflow branch for inputs.
 */
function smallestFrom(
  start: bigint,
  isEnough: (input: bigint) => boolean | Incomplete,
): bigint | null | Incomplete {
  let tooLittle = -1n
  let enough: bigint | null = null
  let candidate = start
  let stride = 1n
  for (let step = 0; ; step++) {
    assert(step < SEARCH_STEPS, () => `no smallest input found from ${start}`)
    const verdict = isEnough(candidate)
    if (typeof verdict !== 'boolean') return verdict
    if (verdict) enough = candidate
    else tooLittle = candidate
    if (enough !== null && enough - tooLittle === 1n) return enough
    if (enough === null) {
      candidate += stride
      stride *= 2n
    } else if (tooLittle === -1n) {
      candidate = enough > stride ? enough - stride : 0n
      stride *= 2n
    } else candidate = (enough + tooLittle) >> 1n
  }
}
