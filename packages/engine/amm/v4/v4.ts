/**
 * A pool of the v4 manager as the engine sees it.
 *
 * Its curve is v3's to the unit: the same ticks, the same stops at the edges of words, the same roundings. What
 * differs is the fee. It has two parts, one for each direction may differ from the other, and both may change
 * after creation; so the fee is state, and each direction is computed with its own.
 */
import type { Side, V3State } from '../states.ts'
import { unreachable } from '../../assert.ts'
import type { Fraction } from '../../exact/fraction.ts'
import {
  type Adapter,
  type Applied,
  type Boundary,
  type Difference,
  type GrossDepth,
  type Incomplete,
  type V3Terms,
} from '../adapter.ts'
import { UINT128_MAX } from '../sqrtPriceMath.ts'
import { checkSwap, type Check, sideOf, VERIFIED } from '../swapCheck.ts'
import { isSqrtPrice, tickAtSqrtRatio } from '../tickMath.ts'
import { marginal as marginalOfSlot, v3 } from '../v3.ts'
import type { V4Event, V4State, V4Terms } from './kind.ts'
import { DYNAMIC_FEE, lpFeeFrom, protocolFeeOf, swapFeeOf, WHOLE_FEE } from './swapFee.ts'

type SwapEvent = Extract<V4Event, { readonly kind: 'SWAP' }>
type ModifyEvent = Extract<V4Event, { readonly kind: 'MODIFY' }>

const SIDES: readonly Side[] = [0, 1]

export const v4: Adapter<V4Terms, V4State, V4Event> = {
  isLive: (_terms, state) =>
    state.sqrtPriceX96 > 0n && state.liquidity > 0n && SIDES.every(side => feeOf(state, side) < WHOLE_FEE),

  marginal,

  swapExactIn(terms, state, side, amountIn) {
    const result = v3.swapExactIn(curveTerms(terms, feeOf(state, side)), slotOf(state), side, amountIn)
    if ('reason' in result) return result
    const { sqrtPriceX96, tick, liquidity } = result.state
    return { ...result, state: { ...state, sqrtPriceX96, tick, liquidity } }
  },

  smallestInput(terms, state, side, amountOut) {
    const fee = feeOf(state, side)
    if (fee === WHOLE_FEE) return amountOut === 0n ? 0n : null
    return v3.smallestInput(curveTerms(terms, fee), slotOf(state), side, amountOut)
  },

  depth(terms, state, x, boundary) {
    const [fee0, fee1] = [feeOf(state, 0), feeOf(state, 1)]
    if (fee0 === fee1) return depthWith(terms, state, x, boundary, fee0)
    // Y goes in to raise the price of X, X to lower it.
    const y: Side = x === 0 ? 1 : 0
    const up = depthWith(terms, state, x, boundary, feeOf(state, y))
    if ('reason' in up) return up
    const down = depthWith(terms, state, x, boundary, feeOf(state, x))
    if ('reason' in down) return down
    return { up: up.up, down: down.down }
  },

  apply(terms, state, _prior, event) {
    switch (event.kind) {
      case 'INITIALIZE':
        return applyInitialize(terms, state, event.sqrtPriceX96, event)
      case 'MODIFY':
        return applyModify(terms, state, event)
      case 'SWAP':
        return applySwap(terms, state, event)
      case 'PROTOCOL_FEE':
        return applied({ ...state, protocolFee: event.protocolFee }, VERIFIED)
      default:
        return unreachable(event)
    }
  },
}

export function marginal(state: V4State): Fraction {
  return marginalOfSlot(slotOf(state))
}

const feeOf = (state: V4State, side: Side): bigint => swapFeeOf(state.protocolFee, state.lpFeePpm, side)

/** The curve of this pool with one fee: a v3 pool on the same ticks. */
const curveTerms = ({ tickSpacing, book }: V4Terms, feePpm: bigint): V3Terms => ({
  family: 'amm_v3',
  feePpm,
  tickSpacing,
  book,
})

const slotOf = ({ sqrtPriceX96, tick, liquidity }: V4State): V3State => ({
  family: 'amm_v3',
  sqrtPriceX96,
  tick,
  liquidity,
})

/** No amount moves a price when all of it is the fee. */
function depthWith(
  terms: V4Terms,
  state: V4State,
  x: Side,
  boundary: Boundary,
  feePpm: bigint,
): GrossDepth | Incomplete {
  if (feePpm === WHOLE_FEE) return { up: 0n, down: 0n }
  return v3.depth(curveTerms(terms, feePpm), slotOf(state), x, boundary)
}

/** A new pool has no protocol fee. Where a hook sets the fee, no log says which: the state has to be read. */
function applyInitialize(
  { keyFee }: V4Terms,
  state: V4State,
  sqrtPriceX96: bigint,
  { tick }: Extract<V4Event, { readonly kind: 'INITIALIZE' }>,
): Applied<V4State> {
  const isDynamic = keyFee === DYNAMIC_FEE
  const lpFeePpm = isDynamic ? 0n : keyFee
  const after: V4State = { ...state, sqrtPriceX96, tick, lpFeePpm, protocolFee: 0n }
  const differences: Difference[] = []
  if (state.sqrtPriceX96 !== 0n)
    differences.push({ field: 'sqrtPriceX96', event: sqrtPriceX96, computed: state.sqrtPriceX96 })
  const computed = isSqrtPrice(sqrtPriceX96) ? tickAtSqrtRatio(sqrtPriceX96) : null
  if (tick !== computed)
    differences.push({ field: 'tick', event: BigInt(tick), computed: BigInt(computed ?? state.tick) })
  const check = checkOf(differences)
  return applied(after, isDynamic && check === VERIFIED ? { ...check, verdict: 'incomplete' } : check)
}

/** The log has no amounts: what can be held against it is that the ticks and the liquidity allow the change. */
function applyModify(terms: V4Terms, state: V4State, event: ModifyEvent): Applied<V4State> {
  const { tickLower: lower, tickUpper: upper, liquidityDelta: delta } = event
  const isInside = state.tick >= lower && state.tick < upper && state.sqrtPriceX96 > 0n
  const liquidity = isInside ? state.liquidity + delta : state.liquidity
  if (liquidity < 0n || liquidity > UINT128_MAX || !terms.book.change({ lower, upper, delta })) {
    const computed = delta < 0n ? -terms.book.heldBetween(lower, upper) : state.liquidity
    return applied(state, checkOf([{ field: 'liquidity', event: delta, computed }]))
  }
  const after: V4State = liquidity === state.liquidity ? state : { ...state, liquidity }
  return { ...applied(after, VERIFIED), tickChange: delta === 0n ? null : { lower, upper, delta } }
}

function applySwap(terms: V4Terms, state: V4State, event: SwapEvent): Applied<V4State> {
  const { sqrtPriceX96, tick, liquidity, feePpm } = event
  const slot = slotOf(state)
  const side = sideOf(slot, event)
  const lpFeePpm = lpFeeAfter(terms, state, side, feePpm)
  const after: V4State = { ...state, sqrtPriceX96, tick, liquidity, lpFeePpm: lpFeePpm ?? state.lpFeePpm }
  const feeDifferences: readonly Difference[] =
    lpFeePpm === null ? [{ field: 'feePpm', event: feePpm, computed: feeOf(state, side) }] : []
  // The curve is held against the fee that was paid, so that a wrong fee shows as just that.
  const curveFee = feePpm > WHOLE_FEE ? feeOf(state, side) : feePpm
  const curve = checkSwap(curveTerms(terms, curveFee), slot, event)
  if (feeDifferences.length === 0) return applied(after, curve)
  return applied(after, { verdict: 'unverified', differences: [...feeDifferences, ...curve.differences] })
}

/** The providers' fee that this swap paid; null when the pool cannot have asked for it. */
function lpFeeAfter({ keyFee }: V4Terms, state: V4State, side: Side, feePpm: bigint): bigint | null {
  if (feeOf(state, side) === feePpm) return state.lpFeePpm
  return keyFee === DYNAMIC_FEE ? lpFeeFrom(feePpm, protocolFeeOf(state.protocolFee, side)) : null
}

function checkOf(differences: readonly Difference[]): Check {
  return differences.length === 0 ? VERIFIED : { verdict: 'unverified', differences }
}

function applied(state: V4State, { verdict, differences }: Check): Applied<V4State> {
  return { state, verdict, differences, tickChange: null }
}
