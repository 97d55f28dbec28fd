/** A pool of Algebra v1: the curve of ticks with a fee that the pool changes itself and logs. */
import type { Count, Tick } from '../../units.ts'
import type { Slot, SlotEvent } from '../states.ts'
import type { TickBook } from '../tickBook.ts'

type Born = { readonly family: 'amm_algebra_v1'; readonly tickSpacing: Tick }

/**
 * The fee is that of the last Fee log. The first swap, Mint or Burn of a block may set another fee before it trades.
 */
export type AlgebraState = { readonly family: 'amm_algebra_v1'; readonly feePpm: bigint } & Slot

export type AlgebraEvent = SlotEvent | { readonly kind: 'FEE'; readonly feePpm: Count }

export type Algebra = {
  readonly family: 'amm_algebra_v1'
  readonly born: Born
  readonly terms: Born & { readonly book: TickBook }
  readonly state: AlgebraState
  readonly event: AlgebraEvent
}
