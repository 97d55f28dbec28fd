/** The members that the adapters of pools with ticks have in common, for a family to complete or replace. */
import { PLAIN } from './adapter.ts'
import { slotDifferences } from './slotEvents.ts'
import { tickChange } from './slotPast.ts'
import { netsOf, slotSwapped, slotText, swapText } from './slotText.ts'
import type { Slot } from './states.ts'
import type { TickBook } from './tickBook.ts'

export const SLOT_FAMILY = {
  ...PLAIN,
  leastInput: 'amm_v3',
  book: ({ book }: { readonly book: TickBook }) => book,
  tick: ({ tick }: Slot) => tick,
  isPossible: ({ liquidity }: Slot) => liquidity >= 0n,
  differences: (_terms: object, ours: Slot, chain: Slot) => slotDifferences(ours, chain),
  holdings: slotText,
  explains: () => false,
  tickChange,
  nets: netsOf,
  swapped: slotSwapped,
  swapText,
  born: <Terms extends { readonly book: TickBook }>({ book: _book, ...born }: Terms) => born,
} as const
