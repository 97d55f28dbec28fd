/**
 * Applies the events of pools with ticks.
 *
 * The state follows the last event even when we cannot recompute it: the chain decides what happened, and our verdict
 * only states whether we understand it. No content of an event makes this throw.
 */
import { type Applied, type Check, checkOf, type Difference, differing, VERIFIED } from './adapter.ts'
import type { Slot, SlotEvent, TickChange } from './states.ts'
import { unreachable } from '../assert.ts'
import type { Tick } from '../units.ts'
import type { Curve, SlotKind } from './concentrated.ts'
import { UINT128_MAX } from './sqrtPriceMath.ts'
import * as sqrtPriceMath from './sqrtPriceMath.ts'
import { isSqrtPrice, sqrtRatioAtTick, tickAtSqrtRatio } from './tickMath.ts'

type LiquidityEvent = Extract<SlotEvent, { readonly kind: 'MINT' | 'BURN' }>

/** Handles Initialize, Mint, Burn and Swap; a family with further events handles those itself. */
export function applySlot<K extends SlotKind>(
  curve: Curve<K>,
  terms: K['terms'],
  state: K['state'],
  event: SlotEvent,
): Applied<K['state']> {
  switch (event.kind) {
    case 'SWAP': {
      const after = curve.moved(state, event)
      return applied(after, curve.check(terms, state, event))
    }
    case 'INITIALIZE': {
      const after = curve.moved(state, { ...event, liquidity: state.liquidity })
      return applied(after, checkInitialize(state, event.sqrtPriceX96, event.tick))
    }
    case 'MINT':
    case 'BURN': {
      const { tickLower: lower, tickUpper: upper } = event
      const delta = event.kind === 'MINT' ? event.liquidity : -event.liquidity
      const changed = applyChange(curve, terms, state, { lower, upper, delta })
      return changed.verdict === 'verified' ? { ...changed, ...checkAmounts(state, event) } : changed
    }
    default:
      return unreachable(event)
  }
}

/** Applies liquidity between two ticks when the event does not state the amounts. */
export function applyChange<K extends SlotKind>(
  curve: Curve<K>,
  terms: K['terms'],
  state: K['state'],
  { lower, upper, delta }: TickChange,
): Applied<K['state']> {
  const isInside = state.tick >= lower && state.tick < upper && state.sqrtPriceX96 > 0n
  const liquidity = isInside ? state.liquidity + delta : state.liquidity
  if (liquidity < 0n || liquidity > UINT128_MAX || !terms.book.change({ lower, upper, delta })) {
    const computed = delta < 0n ? terms.book.heldBetween(lower, upper) : state.liquidity
    const event = delta < 0n ? -delta : delta
    return applied(state, checkOf([{ field: 'liquidity', event, computed }]))
  }
  const after = liquidity === state.liquidity ? state : curve.moved(state, { ...state, liquidity })
  const tickChange = delta === 0n ? null : { lower, upper, delta }
  return { state: after, ...VERIFIED, tickChange }
}

/** Fields in which two slots differ; `event` is the chain's value. */
export const slotDifferences = (ours: Slot, chain: Slot): Difference[] =>
  differing([
    ['sqrt_price_x96', chain.sqrtPriceX96, ours.sqrtPriceX96],
    ['tick', BigInt(chain.tick), BigInt(ours.tick)],
    ['liquidity', chain.liquidity, ours.liquidity],
  ])

function checkInitialize(state: Slot, sqrtPriceX96: bigint, tick: Tick): Check {
  const differences: Difference[] = []
  if (state.sqrtPriceX96 !== 0n) {
    differences.push({ field: 'sqrtPriceX96', event: sqrtPriceX96, computed: state.sqrtPriceX96 })
  }
  const computed = isSqrtPrice(sqrtPriceX96) ? tickAtSqrtRatio(sqrtPriceX96) : null
  if (tick !== computed) {
    differences.push({ field: 'tick', event: BigInt(tick), computed: BigInt(computed ?? state.tick) })
  }
  return checkOf(differences)
}

/** The value of a position at the price: a Mint pays it rounded up, a Burn receives it rounded down. */
function checkAmounts(state: Slot, event: LiquidityEvent): Check {
  const { tick, sqrtPriceX96 } = state
  if (!isSqrtPrice(sqrtPriceX96)) {
    return checkOf([{ field: 'sqrtPriceX96', event: 0n, computed: sqrtPriceX96 }])
  }
  const lowerX96 = sqrtRatioAtTick(event.tickLower)
  const upperX96 = sqrtRatioAtTick(event.tickUpper)
  // The tick decides, as in the contract: on a boundary that was crossed downwards, tick and price disagree.
  const isBelow = tick < event.tickLower
  const isAbove = tick >= event.tickUpper
  const fromX96 = isBelow ? lowerX96 : sqrtPriceX96
  const toX96 = isAbove ? upperX96 : sqrtPriceX96
  const isMint = event.kind === 'MINT'
  const amount0 = isMint ? sqrtPriceMath.amount0Up : sqrtPriceMath.amount0Down
  const amount1 = isMint ? sqrtPriceMath.amount1Up : sqrtPriceMath.amount1Down
  const computed0 = isAbove ? 0n : amount0(fromX96, upperX96, event.liquidity)
  const computed1 = isBelow ? 0n : amount1(lowerX96, toX96, event.liquidity)
  return checkOf(
    differing([
      ['amount0', event.amount0, computed0],
      ['amount1', event.amount1, computed1],
    ]),
  )
}

function applied<State>(state: State, { verdict, differences }: Check): Applied<State> {
  return { state, verdict, differences, tickChange: null }
}
