/**
 * The concentrated-liquidity pool as the engine sees it.
 *
 * A state is what the last event says, whether or not it recomputes: the chain is the authority on what
 * happened, the verdict is ours on whether we understand it. Nothing an event contains makes this throw.
 */
import type { Side, V3Event, V3State } from './states.ts'
import { assert, unreachable } from '../assert.ts'
import type { Fraction } from '../exact/fraction.ts'
import { type Tick, tick as toTick } from '../units.ts'
import {
  type Adapter,
  type Applied,
  type Difference,
  INCOMPLETE,
  type Incomplete,
  type V3Terms,
} from './adapter.ts'
import * as priceLimit from './priceLimit.ts'
import { UINT128_MAX } from './sqrtPriceMath.ts'
import * as sqrtPriceMath from './sqrtPriceMath.ts'
import { type Check, checkSwap, VERIFIED } from './swapCheck.ts'
import * as swapLoop from './swapLoop.ts'
import { isSqrtPrice, isTickAt, sqrtRatioAtTick, tickAtSqrtRatio } from './tickMath.ts'

type LiquidityEvent = Extract<V3Event, { readonly kind: 'MINT' | 'BURN' }>

/** Up to this many initialised ticks a walk takes microseconds: not worth the memory of an index. */
const WALKED_TICKS = 6

/** An amount has 256 bits; a search that doubles and then halves its step is done by then. */
const SEARCH_STEPS = 512

export const v3: Adapter<V3Terms, V3State, V3Event> = {
  isLive: (_terms, state) => state.sqrtPriceX96 > 0n && state.liquidity > 0n,

  marginal,

  swapExactIn(terms, state, side, amountIn) {
    assert(amountIn >= 0n, () => `an input of ${amountIn}`)
    if (state.sqrtPriceX96 === 0n) return { amountIn: 0n, amountOut: 0n, state }
    if (!isCoherent(state)) return INCOMPLETE
    const result = swapExact(terms, state, side, { kind: 'EXACT_IN', amount: amountIn })
    if ('reason' in result) return result
    const { sqrtPriceX96, tick, liquidity } = result
    return {
      amountIn: side === 0 ? result.amount0 : result.amount1,
      amountOut: outputOf(result, side),
      state: { family: 'amm_v3', sqrtPriceX96, tick, liquidity },
    }
  },

  smallestInput(terms, state, side, amountOut) {
    if (amountOut === 0n) return 0n
    if (state.sqrtPriceX96 === 0n) return null
    if (!isCoherent(state)) return INCOMPLETE
    const result = swapExact(terms, state, side, { kind: 'EXACT_OUT', amount: amountOut })
    if ('reason' in result) return result
    if (outputOf(result, side) < amountOut) return null
    const start = side === 0 ? result.amount0 : result.amount1
    return smallestFrom(start, input => {
      const trial = swapExact(terms, state, side, { kind: 'EXACT_IN', amount: input })
      return 'reason' in trial ? trial : outputOf(trial, side) >= amountOut
    })
  },

  depth(terms, state, x, boundary) {
    if (state.sqrtPriceX96 === 0n) return { up: 0n, down: 0n }
    if (!isCoherent(state)) return INCOMPLETE
    const { below, above } = priceLimit.rootsOf(boundary, x)
    const limitBelow = priceLimit.limitBelow(state.sqrtPriceX96, below)
    const token0 = inputTo(terms, state, 0, limitBelow, below.ticks)
    if (typeof token0 !== 'bigint') return token0
    const limitAbove = priceLimit.limitAbove(state.sqrtPriceX96, above)
    const token1 = inputTo(terms, state, 1, limitAbove, above.ticks)
    if (typeof token1 !== 'bigint') return token1
    return x === 0 ? { up: token1, down: token0 } : { up: token0, down: token1 }
  },

  apply(terms, state, _prior, event) {
    switch (event.kind) {
      case 'INITIALIZE':
        return applyInitialize(state, event.sqrtPriceX96, event.tick)
      case 'MINT':
      case 'BURN':
        return applyLiquidity(terms, state, event)
      case 'SWAP': {
        const { sqrtPriceX96, tick, liquidity } = event
        const after: V3State = { family: 'amm_v3', sqrtPriceX96, tick, liquidity }
        return applied(after, checkSwap(terms, state, event))
      }
      default:
        return unreachable(event)
    }
  },
}

/** A function of its own: who recomputes a price from a shown slot needs no ticks, and no swap. */
export function marginal({ sqrtPriceX96 }: V3State): Fraction {
  assert(sqrtPriceX96 > 0n, 'a pool without a price has no marginal price')
  return { num: sqrtPriceX96 * sqrtPriceX96, den: 1n << 192n }
}

/** An event that does not recompute may leave a price and a tick that no pool has together: load it again. */
function isCoherent(state: V3State): boolean {
  return isTickAt(state.tick, state.sqrtPriceX96)
}

/** The gross input of token `side` that brings the price to the limit. */
function inputTo(
  terms: V3Terms,
  state: V3State,
  side: Side,
  limitX96: bigint,
  ticks: Tick,
): bigint | Incomplete {
  const isAhead = side === 0 ? limitX96 < state.sqrtPriceX96 : limitX96 > state.sqrtPriceX96
  if (!isAhead) return 0n
  const { book, feePpm } = terms
  if (book.hasDepthIndex || hasManyTicks(terms, state, ticks)) {
    const input = book.depthIndex(feePpm).inputTo(state, side, limitX96, ticks)
    if (input !== null) return input
  }
  const result = swapLoop.swap(terms, state, side, swapLoop.TO_LIMIT, limitX96)
  if ('reason' in result) return result
  return side === 0 ? result.amount0 : result.amount1
}

function hasManyTicks({ book }: V3Terms, { tick }: V3State, ticks: Tick): boolean {
  const here = book.positionAtOrBelow(tick)
  const there = book.positionAtOrBelow(toTick(tick + ticks))
  return Math.abs(here - there) > WALKED_TICKS
}

function swapExact(
  terms: V3Terms,
  state: V3State,
  side: Side,
  order: swapLoop.Order,
): swapLoop.Swap | Incomplete {
  return swapLoop.swap(terms, state, side, order, priceLimit.extremeLimit(state.sqrtPriceX96, side))
}

function outputOf(result: swapLoop.Swap, side: Side): bigint {
  return side === 0 ? -result.amount1 : -result.amount0
}

/**
 * The smallest input that is enough. More input never gives less output, so one that is enough beside one
 * that is not proves it. The exact-output swap is that input or very near: it asks for a whole segment where
 * a part gives the same output, and it knows nothing of the contract's overflow branch for inputs.
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

function applyInitialize(state: V3State, sqrtPriceX96: bigint, tick: Tick): Applied<V3State> {
  const after: V3State = { family: 'amm_v3', sqrtPriceX96, tick, liquidity: state.liquidity }
  const differences: Difference[] = []
  if (state.sqrtPriceX96 !== 0n) {
    differences.push({ field: 'sqrtPriceX96', event: sqrtPriceX96, computed: state.sqrtPriceX96 })
  }
  const computed = isSqrtPrice(sqrtPriceX96) ? tickAtSqrtRatio(sqrtPriceX96) : null
  if (tick !== computed) {
    differences.push({ field: 'tick', event: BigInt(tick), computed: BigInt(computed ?? state.tick) })
  }
  return applied(after, checkOf(differences))
}

function applyLiquidity(terms: V3Terms, state: V3State, event: LiquidityEvent): Applied<V3State> {
  const { tickLower: lower, tickUpper: upper } = event
  const delta = event.kind === 'MINT' ? event.liquidity : -event.liquidity
  const isInside = state.tick >= lower && state.tick < upper && state.sqrtPriceX96 > 0n
  const liquidity = isInside ? state.liquidity + delta : state.liquidity
  if (liquidity < 0n || liquidity > UINT128_MAX || !terms.book.change({ lower, upper, delta })) {
    const computed = event.kind === 'BURN' ? terms.book.heldBetween(lower, upper) : state.liquidity
    return applied(state, checkOf([{ field: 'liquidity', event: event.liquidity, computed }]))
  }
  const after: V3State = liquidity === state.liquidity ? state : { ...state, liquidity }
  const tickChange = delta === 0n ? null : { lower, upper, delta }
  return { ...applied(after, checkAmounts(state, event)), tickChange }
}

/** What a position is worth at the price: a Mint pays it rounded up, a Burn gets it rounded down. */
function checkAmounts(state: V3State, event: LiquidityEvent): Check {
  const { tick, sqrtPriceX96 } = state
  if (!isSqrtPrice(sqrtPriceX96)) {
    return checkOf([{ field: 'sqrtPriceX96', event: 0n, computed: sqrtPriceX96 }])
  }
  const lowerX96 = sqrtRatioAtTick(event.tickLower)
  const upperX96 = sqrtRatioAtTick(event.tickUpper)
  // Decided by the tick, as the contract does: on a boundary that was crossed downwards the two disagree.
  const isBelow = tick < event.tickLower
  const isAbove = tick >= event.tickUpper
  const fromX96 = isBelow ? lowerX96 : sqrtPriceX96
  const toX96 = isAbove ? upperX96 : sqrtPriceX96
  const isMint = event.kind === 'MINT'
  const amount0 = isMint ? sqrtPriceMath.amount0Up : sqrtPriceMath.amount0Down
  const amount1 = isMint ? sqrtPriceMath.amount1Up : sqrtPriceMath.amount1Down
  const computed0 = isAbove ? 0n : amount0(fromX96, upperX96, event.liquidity)
  const computed1 = isBelow ? 0n : amount1(lowerX96, toX96, event.liquidity)
  const differences: Difference[] = []
  if (event.amount0 !== computed0) {
    differences.push({ field: 'amount0', event: event.amount0, computed: computed0 })
  }
  if (event.amount1 !== computed1) {
    differences.push({ field: 'amount1', event: event.amount1, computed: computed1 })
  }
  return checkOf(differences)
}

function checkOf(differences: readonly Difference[]): Check {
  return differences.length === 0 ? VERIFIED : { verdict: 'unverified', differences }
}

function applied(state: V3State, { verdict, differences }: Check): Applied<V3State> {
  return { state, verdict, differences, tickChange: null }
}
