/**
 * The adapter of pools of the v4 manager.
 *
 * Its curve equals v3's to the unit: the same ticks, the same stops at the edges of words, the same roundings. Only
 * the fee differs. It has two parts, may differ between the two directions, and may change after creation; so the fee
 * is state, and each direction is computed with its own fee.
 */
import { type Adapter, type Applied, type Difference, differing } from '../adapter.ts'
import type { Side } from '../states.ts'
import { unreachable } from '../../assert.ts'
import { count } from '../../units.ts'
import { concentrated, type Curve } from '../concentrated.ts'
import { applyChange, applySlot, slotDifferences } from '../slotEvents.ts'
import { SLOT_FAMILY } from '../slotFamily.ts'
import { NOWHERE } from '../slotPast.ts'
import { slotSwapped, slotText, swapText } from '../slotText.ts'
import { checkSwap, sideOf } from '../swapCheck.ts'
import { withBook } from '../tickBook.ts'
import { hookOf } from './hooks.ts'
import type { V4, V4Event, V4State, V4Terms } from './kind.ts'
import { after, before, first, tickChange } from './past.ts'
import { DYNAMIC_FEE, lpFeeFrom, protocolFeeOf, swapFeeOf, WHOLE_FEE } from './swapFee.ts'

/** The address of the native currency, which is not a token. */
const NATIVE = `0x${'0'.repeat(40)}`

type SwapEvent = Extract<V4Event, { readonly kind: 'SWAP' }>

const feeOf = (state: V4State, side: Side): bigint => swapFeeOf(state.protocolFee, state.lpFeePpm, side)

const curve: Curve<V4> = {
  pricing: ({ book }, state, side) => ({ book, feePpm: feeOf(state, side) }),
  moved: (state, { sqrtPriceX96, tick, liquidity }) => ({ ...state, sqrtPriceX96, tick, liquidity }),
  check: ({ book }, state, event) => {
    const side = sideOf(state, event)
    return checkSwap({ book, feePpm: feeOf(state, side) }, state, side, event)
  },
}
const slots = concentrated(curve)

export const v4: Adapter<V4> = {
  ...SLOT_FAMILY,
  ...slots,
  feeNow: feeOf,
  hook: hookOf,
  shown: ({ keyFee, tickSpacing, hooks, isNative, manager }, token0, token1) => ({
    manager_address: manager,
    is_native: isNative,
    pool_key: {
      currency0: isNative ? NATIVE : token0,
      currency1: token1,
      fee: count(Number(keyFee)),
      tick_spacing: tickSpacing,
      hooks,
    },
  }),
  // A hook may charge another fee than the manager stores, so a dynamic fee is not compared (R-hook-2).
  differences: ({ keyFee }, ours, chain) => [
    ...slotDifferences(ours, chain),
    ...(keyFee === DYNAMIC_FEE ? [] : differing([['lp_fee_ppm', chain.lpFeePpm, ours.lpFeePpm]])),
    ...differing([['protocol_fee', chain.protocolFee, ours.protocolFee]]),
  ],
  holdings: state => ({
    slot: {
      ...slotText(state).slot,
      lp_fee_ppm: count(Number(state.lpFeePpm)),
      protocol_fee0_ppm: count(Number(protocolFeeOf(state.protocolFee, 0))),
      protocol_fee1_ppm: count(Number(protocolFeeOf(state.protocolFee, 1))),
    },
  }),

  // Nothing can be bought when all of the input is the fee.
  isLive: (terms, state) =>
    slots.isLive(terms, state) && feeOf(state, 0) < WHOLE_FEE && feeOf(state, 1) < WHOLE_FEE,

  smallestInput: (terms, state, side, amountOut) =>
    amountOut > 0n && feeOf(state, side) === WHOLE_FEE
      ? null
      : slots.smallestInput(terms, state, side, amountOut),

  depth(terms, state, x, boundary) {
    const isShut = feeOf(state, 0) === WHOLE_FEE || feeOf(state, 1) === WHOLE_FEE
    return isShut ? { up: 0n, down: 0n } : slots.depth(terms, state, x, boundary)
  },

  tickChange,
  swapped: (side, amounts, after) =>
    slotSwapped(side, amounts, after).map(swap => ({ ...swap, feePpm: feeOf(after, side) })),
  swapText: swap => ({ ...swapText(swap), fee_ppm: swap.feePpm.toString() }),
  family: 'amm_v4',
  feePpm: initialFee,
  terms: withBook,
  restored: withBook,
  empty: ({ keyFee }) => ({
    family: 'amm_v4',
    ...NOWHERE,
    lpFeePpm: initialFee({ keyFee }),
    protocolFee: 0n,
  }),

  apply(terms, state, _prior, event) {
    switch (event.kind) {
      case 'INITIALIZE': {
        const lpFeePpm = initialFee(terms)
        const applied = applySlot(curve, terms, { ...state, lpFeePpm, protocolFee: 0n }, event)
        // When a hook sets the fee, no log states it: the state has to be read.
        const isUnsaid = terms.keyFee === DYNAMIC_FEE && applied.verdict === 'verified'
        return isUnsaid ? { ...applied, verdict: 'incomplete' } : applied
      }
      case 'MODIFY':
        return applyChange(curve, terms, state, {
          lower: event.tickLower,
          upper: event.tickUpper,
          delta: event.liquidityDelta,
        })
      case 'SWAP':
        return applySwap(terms, state, event)
      case 'PROTOCOL_FEE': {
        const { protocolFee } = event
        return { state: { ...state, protocolFee }, verdict: 'verified', differences: [], tickChange: null }
      }
      default:
        return unreachable(event)
    }
  },
  before,
  after,
  first,
}

/** Zero for a pool whose hook sets the fee: the hook has not done so yet. */
function initialFee({ keyFee }: Pick<V4Terms, 'keyFee'>): bigint {
  return keyFee === DYNAMIC_FEE ? 0n : keyFee
}

function applySwap(terms: V4Terms, state: V4State, event: SwapEvent): Applied<V4State> {
  const { sqrtPriceX96, tick, liquidity, feePpm } = event
  const side = sideOf(state, event)
  const lpFeePpm = lpFeeAfter(terms, state, side, feePpm)
  const next: V4State = { ...state, sqrtPriceX96, tick, liquidity, lpFeePpm: lpFeePpm ?? state.lpFeePpm }
  // The curve is checked with the fee that was paid, so that a wrong fee is reported as exactly that.
  const curveFee = feePpm > WHOLE_FEE ? feeOf(state, side) : feePpm
  const { verdict, differences } = checkSwap({ book: terms.book, feePpm: curveFee }, state, side, event)
  if (lpFeePpm !== null) return { state: next, verdict, differences, tickChange: null }
  const wrongFee: Difference = { field: 'feePpm', event: feePpm, computed: feeOf(state, side) }
  return { state: next, verdict: 'unverified', differences: [wrongFee, ...differences], tickChange: null }
}

/** The providers' fee that this swap paid; null when the pool cannot have charged it. */
function lpFeeAfter({ keyFee }: V4Terms, state: V4State, side: Side, feePpm: bigint): bigint | null {
  if (feeOf(state, side) === feePpm) return state.lpFeePpm
  return keyFee === DYNAMIC_FEE ? lpFeeFrom(feePpm, protocolFeeOf(state.protocolFee, side)) : null
}
