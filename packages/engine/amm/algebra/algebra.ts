/**
 * Algebra v1 (QuickSwap v3): one pool per pair. Its swaps are those of Uniswap v3 at the current fee, which its Fee
 * log states before the Swap that pays it.
 */
import { type Adapter, type Applied, differing, VERIFIED } from '../adapter.ts'
import { concentrated, type Curve } from '../concentrated.ts'
import { applySlot, slotDifferences } from '../slotEvents.ts'
import { SLOT_FAMILY } from '../slotFamily.ts'
import { checkSwap, sideOf } from '../swapCheck.ts'
import { withBook } from '../tickBook.ts'
import type { Algebra, AlgebraState } from './kind.ts'
import * as past from './past.ts'

const curve: Curve<Algebra> = {
  pricing: ({ book }, { feePpm }) => ({ book, feePpm }),
  moved: ({ feePpm }, slot) => past.stateOf(slot, feePpm),
  check: ({ book }, state, event) =>
    checkSwap({ book, feePpm: state.feePpm }, state, sideOf(state, event), event),
}

export const algebra: Adapter<Algebra> = {
  ...SLOT_FAMILY,
  ...concentrated(curve),
  feeNow: ({ feePpm }) => feePpm,
  differences: (_terms, ours, chain) => [
    ...slotDifferences(ours, chain),
    ...differing([['fee_ppm', chain.feePpm, ours.feePpm]]),
  ],
  family: 'amm_algebra_v1',
  feePpm: () => past.BASE_FEE_PPM,
  terms: withBook,
  restored: withBook,
  empty: () => past.NEWBORN,
  apply: (terms, state, _prior, event): Applied<AlgebraState> =>
    event.kind === 'FEE'
      ? { state: past.stateOf(state, BigInt(event.feePpm)), ...VERIFIED, tickChange: null }
      : applySlot(curve, terms, state, event),
  before: past.before,
  after: past.after,
  first: past.first,
}
