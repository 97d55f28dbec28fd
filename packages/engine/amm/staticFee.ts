/** Families of pools with ticks whose fee is given at creation and never changes. */
import type { Events, Identity, Maths } from './adapter.ts'
import type { Slot, SlotEvent } from './states.ts'
import type { Tick } from '../units.ts'
import { concentrated, type Curve } from './concentrated.ts'
import { applySlot, slotDifferences } from './slotEvents.ts'
import { NOWHERE, slotPast, tickChange } from './slotPast.ts'
import { fromLoaded, type TickBook } from './tickBook.ts'

type StaticBorn<F extends string> = {
  readonly family: F
  readonly feePpm: bigint
  readonly tickSpacing: Tick
}

/** `book` holds the known ticks; it is the one mutable part and belongs to this pool alone. */
export type StaticKind<F extends string> = {
  readonly family: F
  readonly born: StaticBorn<F>
  readonly terms: StaticBorn<F> & { readonly book: TickBook }
  readonly state: { readonly family: F } & Slot
  readonly event: SlotEvent
}

/** The three parts of the adapter. */
export function staticFee<F extends string>(
  family: F,
): [Identity<StaticKind<F>>, Maths<StaticKind<F>>, Events<StaticKind<F>>] {
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
    differences: slotDifferences,
    holdings: slotText,
    shown: null,
  }
  return [
    identity,
    { ...concentrated(curve), apply: (terms, state, _prior, event) => applySlot(curve, terms, state, event) },
    { explains: () => false, tickChange, nets: netsOf, swapText, ...slotPast<Kind>(whole) },
  ]
}

/** A slot in the words of the wire. */
export const slotText = ({ sqrtPriceX96, tick, liquidity }: Slot) => ({
  slot: { sqrt_price_x96: sqrtPriceX96.toString(), tick, liquidity: liquidity.toString() },
})

type SlotSwap = Extract<SlotEvent, { readonly kind: 'SWAP' }>

export const netsOf = ({ amount0, amount1 }: SlotSwap): readonly [bigint, bigint] => [amount0, amount1]

export const swapText = ({ amount0, amount1, sqrtPriceX96, liquidity, tick }: SlotSwap) => ({
  amount0: amount0.toString(),
  amount1: amount1.toString(),
  sqrt_price_x96: sqrtPriceX96.toString(),
  liquidity: liquidity.toString(),
  tick,
})
