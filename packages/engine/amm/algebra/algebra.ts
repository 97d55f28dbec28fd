/**
 * Algebra v1 (QuickSwap v3): one pool per pair. Its swaps are those of Uniswap v3 at the current fee, which its Fee
 * log states before the Swap that pays it.
 */
import { adapter, type Adapter, type Applied, type Identity, type Maths, VERIFIED } from '../adapter.ts'
import { concentrated, type Curve } from '../concentrated.ts'
import { applySlot, slotDifferences } from '../slotEvents.ts'
import { tickChange } from '../slotPast.ts'
import { netsOf, slotSwapped, slotText, swapText } from '../slotText.ts'
import { checkSwap, sideOf } from '../swapCheck.ts'
import { fromLoaded } from '../tickBook.ts'
import type { Algebra, AlgebraState } from './kind.ts'
import * as past from './past.ts'

const curve: Curve<Algebra> = {
  pricing: ({ book }, { feePpm }) => ({ book, feePpm }),
  moved: ({ feePpm }, sqrtPriceX96, tick, liquidity) =>
    past.stateOf({ sqrtPriceX96, tick, liquidity }, feePpm),
  check: ({ book }, state, event) =>
    checkSwap({ book, feePpm: state.feePpm }, state, sideOf(state, event), event),
}

const identity: Identity<Algebra> = {
  family: 'amm_algebra_v1',
  leastInput: 'amm_v3',
  feePpm: () => past.BASE_FEE_PPM,
  feeNow: ({ feePpm }) => feePpm,
  hook: null,
  shown: null,
  terms: ({ tickSpacing }, ticks) => ({
    family: 'amm_algebra_v1',
    tickSpacing,
    book: fromLoaded(tickSpacing, ticks),
  }),
  born: ({ tickSpacing }) => ({ family: 'amm_algebra_v1', tickSpacing }),
  restored: (image, ticks) => ({ ...image, book: fromLoaded(image.tickSpacing, ticks) }),
  empty: () => past.NEWBORN,
  book: ({ book }) => book,
  tick: ({ tick }) => tick,
  isPossible: ({ liquidity }) => liquidity >= 0n,
  differences: (_terms, ours, chain) => [
    ...slotDifferences(ours, chain),
    ...(ours.feePpm === chain.feePpm
      ? []
      : [{ field: 'fee_ppm', event: chain.feePpm, computed: ours.feePpm }]),
  ],
  holdings: slotText,
}

const maths: Maths<Algebra> = {
  ...concentrated(curve),
  apply: (terms, state, _prior, event): Applied<AlgebraState> =>
    event.kind === 'FEE'
      ? { state: past.stateOf(state, BigInt(event.feePpm)), ...VERIFIED, tickChange: null }
      : applySlot(curve, terms, state, event),
}

export const algebra: Adapter<Algebra> = adapter<Algebra>(identity, maths, {
  explains: () => false,
  tickChange,
  nets: netsOf,
  swapped: slotSwapped,
  swapText,
  before: past.before,
  after: past.after,
  first: past.first,
})
