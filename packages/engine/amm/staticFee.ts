/** Families of pools with ticks whose fee is fixed at creation. */
import type { Adapter } from './adapter.ts'
import type { Slot, SlotEvent } from './states.ts'
import type { Tick } from '../units.ts'
import { concentrated, type Curve } from './concentrated.ts'
import { applySlot } from './slotEvents.ts'
import { SLOT_FAMILY } from './slotFamily.ts'
import { NOWHERE, slotPast } from './slotPast.ts'
import { checkSwap, sideOf } from './swapCheck.ts'
import { type TickBook, withBook } from './tickBook.ts'

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
  const whole = ({ sqrtPriceX96, tick, liquidity }: Slot): Kind['state'] => ({
    family,
    sqrtPriceX96,
    tick,
    liquidity,
  })
  const curve: Curve<Kind> = {
    pricing: terms => terms,
    moved: (_state, slot) => whole(slot),
    check: (terms, state, event) => checkSwap(terms, state, sideOf(state, event), event),
  }
  return {
    ...SLOT_FAMILY,
    ...concentrated(curve),
    family,
    feePpm: ({ feePpm }) => feePpm,
    terms: withBook,
    restored: withBook,
    empty: () => whole(NOWHERE),
    apply: (terms, state, _prior, event) => applySlot(curve, terms, state, event),
    ...slotPast<Kind>(whole),
  }
}
