/** Families of pools with ticks whose fee is fixed at creation. */
import { adapter, type Adapter, type Events, type Identity, type Maths } from './adapter.ts'
import { netsOf, slotSwapped, slotText, swapText } from './slotText.ts'
import type { Slot, SlotEvent } from './states.ts'
import type { Tick } from '../units.ts'
import { concentrated, type Curve } from './concentrated.ts'
import { applySlot, slotDifferences } from './slotEvents.ts'
import { NOWHERE, slotPast, tickChange } from './slotPast.ts'
import { checkSwap, sideOf } from './swapCheck.ts'
import { fromLoaded, type TickBook } from './tickBook.ts'

type StaticBorn<F extends string> = {
  readonly family: F
  readonly feePpm: bigint
  readonly tickSpacing: Tick
}

/** `book` holds the known ticks; it is the only mutable part and belongs to this pool alone. */
export type StaticKind<F extends string> = {
  readonly family: F
  readonly born: StaticBorn<F>
  readonly terms: StaticBorn<F> & { readonly book: TickBook }
  readonly state: { readonly family: F } & Slot
  readonly event: SlotEvent
}

export function staticFee<F extends string>(family: F): Adapter<StaticKind<F>> {
  type Kind = StaticKind<F>
  const at = (sqrtPriceX96: bigint, tick: Tick, liquidity: bigint): Kind['state'] => ({
    family,
    sqrtPriceX96,
    tick,
    liquidity,
  })
  const whole = ({ sqrtPriceX96, tick, liquidity }: Slot) => at(sqrtPriceX96, tick, liquidity)
  const curve: Curve<Kind> = {
    pricing: terms => terms,
    moved: (_state, sqrtPriceX96, tick, liquidity) => at(sqrtPriceX96, tick, liquidity),
    check: (terms, state, event) => checkSwap(terms, state, sideOf(state, event), event),
  }
  const identity: Identity<Kind> = {
    family,
    leastInput: 'amm_v3',
    feePpm: ({ feePpm }) => feePpm,
    feeNow: null,
    hook: null,
    terms: ({ feePpm, tickSpacing }, ticks) => ({
      family,
      feePpm,
      tickSpacing,
      book: fromLoaded(tickSpacing, ticks),
    }),
    born: ({ feePpm, tickSpacing }) => ({ family, feePpm, tickSpacing }),
    restored: (image, ticks) => ({ ...image, book: fromLoaded(image.tickSpacing, ticks) }),
    empty: () => whole(NOWHERE),
    book: ({ book }) => book,
    tick: ({ tick }) => tick,
    isPossible: ({ liquidity }) => liquidity >= 0n,
    differences: (_terms, ours, chain) => slotDifferences(ours, chain),
    holdings: slotText,
    shown: null,
  }
  const maths: Maths<Kind> = {
    ...concentrated(curve),
    apply: (terms, state, _prior, event) => applySlot(curve, terms, state, event),
  }
  const events: Events<Kind> = {
    explains: () => false,
    tickChange,
    nets: netsOf,
    swapped: slotSwapped,
    swapText,
    ...slotPast<Kind>(whole),
  }
  return adapter(identity, maths, events)
}
