/** The state of a pool with ticks derived from its events alone, without reading the chain. */
import type { Events } from './adapter.ts'
import type { Slot, SlotEvent, TickChange } from './states.ts'
import { count, tick } from '../units.ts'
import type { SlotKind } from './concentrated.ts'

/** The slot before there is a price. */
export const NOWHERE: Slot = { sqrtPriceX96: 0n, tick: tick(0), liquidity: 0n }

type Change = Extract<SlotEvent, { readonly kind: 'MINT' | 'BURN' }>
type SlotPast<K extends SlotKind> = Pick<Events<K>, 'before' | 'after' | 'first'>

export const isChange = <E extends { readonly kind: string }>(event: E): event is E & Change =>
  event.kind === 'MINT' || event.kind === 'BURN'

export const tickChange = (event: { readonly kind: string }): TickChange | null => {
  if (!isChange(event)) return null
  const { tickLower: lower, tickUpper: upper, liquidity } = event
  return { lower, upper, delta: event.kind === 'MINT' ? liquidity : -liquidity }
}

/** For a family whose Swap and Initialize state everything except later changes of liquidity. */
export function slotPast<K extends SlotKind & { readonly event: SlotEvent }>(
  whole: (slot: Slot) => K['state'],
): SlotPast<K> {
  return {
    before(state, events) {
      const said = events.find(({ kind }) => kind === 'SWAP' || kind === 'INITIALIZE')
      // The price did not move, so only the liquidity around it is reverted.
      if (said === undefined) return whole(events.toReversed().reduce<Slot>(withoutChange, state))
      // Before there is a price, nobody can trade or add liquidity.
      return said.kind === 'INITIALIZE' ? whole(NOWHERE) : null
    },
    after(events) {
      const at = events.findLastIndex(event => slotOf(event) !== null)
      const slot = slotAfter(events.slice(at))
      return slot === null ? null : whole(slot)
    },
    first(events) {
      const at = events.findIndex(event => slotOf(event) !== null)
      const slot = slotAfter(events.slice(at, at + 1))
      return slot === null ? null : { at: count(at), state: whole(slot) }
    },
  }
}

/** The state given by the first of these events, with the liquidity changes since. */
export function slotAfter([said, ...since]: readonly { readonly kind: string }[]): Slot | null {
  const slot = said === undefined ? null : slotOf(said)
  return slot === null ? null : since.reduce<Slot>(withChange, slot)
}

/** The slot that the event itself states. */
export function slotOf(event: { readonly kind: string }): Slot | null {
  const own = event as SlotEvent
  if (own.kind === 'INITIALIZE') return { sqrtPriceX96: own.sqrtPriceX96, tick: own.tick, liquidity: 0n }
  if (own.kind !== 'SWAP') return null
  const { sqrtPriceX96, tick, liquidity } = own
  return { sqrtPriceX96, tick, liquidity }
}

export const withoutChange = (slot: Slot, event: { readonly kind: string }): Slot => changed(slot, event, -1n)
const withChange = (slot: Slot, event: { readonly kind: string }): Slot => changed(slot, event, 1n)

function changed(slot: Slot, event: { readonly kind: string }, sign: 1n | -1n): Slot {
  const change = tickChange(event)
  if (change === null) return slot
  const { sqrtPriceX96, tick, liquidity } = slot
  const isInside = sqrtPriceX96 > 0n && tick >= change.lower && tick < change.upper
  return isInside ? { sqrtPriceX96, tick, liquidity: liquidity + sign * change.delta } : slot
}
