/** The state of a pool with ticks derived from its events alone, without reading the chain. */
import type { Events } from './adapter.ts'
import type { Slot, SlotEvent, TickChange } from './states.ts'
import { count, tick } from '../units.ts'
import type { SlotKind } from './concentrated.ts'

/** The slot before there is a price. */
export const NOWHERE: Slot = { sqrtPriceX96: 0n, tick: tick(0), liquidity: 0n }

type SlotPast<K extends SlotKind> = Pick<Events<K>, 'before' | 'after' | 'first'>

/** Any event of a family, to be told apart by its kind. */
type AnyEvent = { readonly kind: string }

export function tickChange(event: AnyEvent): TickChange | null {
  const own = event as SlotEvent
  if (own.kind !== 'MINT' && own.kind !== 'BURN') return null
  const { tickLower: lower, tickUpper: upper, liquidity } = own
  return { lower, upper, delta: own.kind === 'MINT' ? liquidity : -liquidity }
}

/** For a family whose Swap and Initialize state everything except later changes of liquidity. */
export function slotPast<K extends SlotKind & { readonly event: SlotEvent }>(
  whole: (slot: Slot) => K['state'],
): SlotPast<K> {
  return {
    before: (state, events) => slotBefore(state, events, tickChange, whole(NOWHERE)),
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

/** The state before the first of these events, unless one of them hides it. */
export function slotBefore<State extends Slot, Event extends AnyEvent>(
  state: State,
  events: readonly Event[],
  changeOf: (event: Event) => TickChange | null,
  newborn: State,
): State | null {
  const said = events.find(event => changeOf(event) === null)
  // The price did not move, so only the liquidity around it is reverted.
  if (said === undefined)
    return events.toReversed().reduce((after, event) => withChange(after, changeOf(event), -1n), state)
  // Before there is a price, nobody can trade or add liquidity.
  return said.kind === 'INITIALIZE' ? newborn : null
}

/** The state given by the first of these events, with the liquidity changes since. */
export function slotAfter([said, ...since]: readonly AnyEvent[]): Slot | null {
  const slot = said === undefined ? null : slotOf(said)
  return slot && since.reduce((before, event) => withChange(before, tickChange(event), 1n), slot)
}

/** The slot that the event itself states. */
export function slotOf(event: AnyEvent): Slot | null {
  const own = event as SlotEvent
  if (own.kind === 'INITIALIZE') return { sqrtPriceX96: own.sqrtPriceX96, tick: own.tick, liquidity: 0n }
  if (own.kind !== 'SWAP') return null
  const { sqrtPriceX96, tick, liquidity } = own
  return { sqrtPriceX96, tick, liquidity }
}

/** A change of liquidity around the price, applied or reverted. */
export function withChange<State extends Slot>(
  state: State,
  change: TickChange | null,
  sign: 1n | -1n,
): State {
  const { sqrtPriceX96, tick, liquidity } = state
  if (change === null || sqrtPriceX96 === 0n || tick < change.lower || tick >= change.upper) return state
  return { ...state, liquidity: liquidity + sign * change.delta }
}
