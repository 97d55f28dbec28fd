/**
 * A whole swap of a pool with ticks: steps from stop to stop, crossing the initialised ticks, exactly as in the pool
 * contract.
 *
 * The result is exact or it is Incomplete; it never depends on an unknown tick. If the known range ends between two
 * stops, a swap that ends before that is still exact: the contract's next stop is further out, and a stop that is not
 * reached has no influence.
 */
import { INCOMPLETE, type Incomplete } from './adapter.ts'
import type { Side, Slot } from './states.ts'
import { assert } from '../assert.ts'
import { type Count, type Tick, tick as toTick } from '../units.ts'
import * as swapMath from './swapMath.ts'
import * as tickBitmap from './tickBitmap.ts'
import type { TickBook } from './tickBook.ts'
import { sqrtRatioAtTick, tickAtSqrtRatio } from './tickMath.ts'

/** The order of the swap. `TO_LIMIT` is an unlimited amount: only the price limit ends it. */
export type Order =
  | { readonly kind: 'EXACT_IN' | 'EXACT_OUT'; readonly amount: bigint }
  | { readonly kind: 'TO_LIMIT' }

export const TO_LIMIT: Order = { kind: 'TO_LIMIT' }

/** Never decremented, so never used up. */
const UNLIMITED = -1n

/** The inputs of a swap besides the state: the known ticks, and the fee of this direction. */
export type Pricing = { readonly book: TickBook; readonly feePpm: bigint }

/** Amounts are signed as in the event: positive into the pool. */
export type Swap = Slot & { readonly amount0: bigint; readonly amount1: bigint }

/**
 * Swaps token `side` in. The limit lies on that side of the price or at it, and inside the price range; the
 * amount is not negative. It ends after at most one step for each stop between the price and the limit.
 */
export function swap(
  pricing: Pricing,
  state: Slot,
  side: Side,
  order: Order,
  limitX96: bigint,
): Swap | Incomplete {
  const { book, feePpm } = pricing
  const trading = swapMath.tradingPpm(feePpm)
  const exactOut = order.kind === 'EXACT_OUT'
  const limited = order.kind !== 'TO_LIMIT'
  let remaining = limited ? order.amount : UNLIMITED
  let { sqrtPriceX96, tick, liquidity } = state
  const isAhead = side === 0 ? limitX96 <= sqrtPriceX96 : limitX96 >= sqrtPriceX96
  assert(isAhead, () => `limit ${limitX96} is behind the price ${sqrtPriceX96}`)
  assert(!limited || remaining >= 0n, () => `a swap of ${remaining}`)
  let amountIn = 0n
  let amountOut = 0n
  let position = book.positionAtOrBelow(tick)

  while (sqrtPriceX96 !== limitX96 && remaining !== 0n) {
    const next = nextStop(book, position, tick, side)
    if (next === null) return INCOMPLETE
    const nextX96 = sqrtRatioAtTick(next.tick)
    const limitFirst = side === 0 ? nextX96 < limitX96 : nextX96 > limitX96
    const target = limitFirst ? limitX96 : nextX96
    const step = !limited
      ? swapMath.toTarget(sqrtPriceX96, target, liquidity, trading)
      : exactOut
        ? swapMath.exactOut(sqrtPriceX96, target, liquidity, remaining, trading)
        : swapMath.exactIn(sqrtPriceX96, target, liquidity, remaining, trading)
    amountIn += step.amountIn
    amountOut += step.amountOut
    if (limited) remaining -= exactOut ? step.amountOut : step.amountIn

    if (step.sqrtPriceX96 === nextX96) {
      // Beyond the last known tick the contract's next stop may be closer or further than this one.
      if (next.kind === 'BORDER' && nextX96 !== limitX96) return INCOMPLETE
      if (next.kind === 'INITIALISED') {
        const net = book.netAt((side === 0 ? position : position + 1) as Count)
        liquidity += side === 0 ? -net : net
        // The state and the book contradict each other: one of them must be read again.
        if (liquidity < 0n) return INCOMPLETE
        position = (side === 0 ? position - 1 : position + 1) as Count | -1
      }
      tick = next.kind === 'BORDER' || side === 1 ? next.tick : toTick(next.tick - 1)
    } else if (step.sqrtPriceX96 !== sqrtPriceX96) {
      tick = tickAtSqrtRatio(step.sqrtPriceX96)
    }
    sqrtPriceX96 = step.sqrtPriceX96
  }
  return side === 0
    ? { amount0: amountIn, amount1: -amountOut, sqrtPriceX96, tick, liquidity }
    : { amount0: -amountOut, amount1: amountIn, sqrtPriceX96, tick, liquidity }
}

/** `BORDER` is not a stop of the contract: the known range ends there, in the middle of a word. */
type Stop = { readonly tick: Tick; readonly kind: 'INITIALISED' | 'EDGE' | 'BORDER' }

/** `position` is that of the greatest initialised tick at or below `tick`. Null when nothing is known here. */
function nextStop(book: TickBook, position: Count | -1, tick: Tick, side: Side): Stop | null {
  const edge = tickBitmap.edgeFrom(tick, side, book.tickSpacing)
  if (side === 0) {
    if (tick > book.highest || tick < book.lowest) return null
    const initialised = book.tickAt(position)
    if (initialised !== undefined && initialised >= edge) return { tick: initialised, kind: 'INITIALISED' }
    return edge >= book.lowest ? { tick: edge, kind: 'EDGE' } : { tick: book.lowest, kind: 'BORDER' }
  }
  // A price that fell exactly to the lowest known tick is in the tick below it, and can still rise.
  if (tick + 1 < book.lowest || tick >= book.highest) return null
  const initialised = book.tickAt((position + 1) as Count)
  if (initialised !== undefined && initialised <= edge) return { tick: initialised, kind: 'INITIALISED' }
  return edge <= book.highest ? { tick: edge, kind: 'EDGE' } : { tick: book.highest, kind: 'BORDER' }
}
