/**
 * The state of a pool before the first of its events in a window, from the state after the last of them
 * (R-history-2). Events are reverted newest first; a value that they do not contain has to be read, or is found in an
 * older event.
 *
 * Nothing found here is trusted: it is folded forwards again, and must end in the state the chain has.
 */
import { adapterOf, type AmmEvent, type AmmState } from '../amm/families.ts'
import type { LoadedTicks } from '../amm/tickBook.ts'
import type { LoadedPool } from '../input.ts'
import type { Count } from '../units.ts'
import type { NewPool, PoolEvent } from './block.ts'

export type Start =
  /** The pool's factory log is in the window: there was no pool before. */
  | { readonly kind: 'BORN' }
  | { readonly kind: 'STATE'; readonly state: AmmState; readonly ticks: LoadedTicks | null }
  /** Not available: the past begins after this event, and `state` is the state it left. */
  | {
      readonly kind: 'SHORT'
      readonly at: Count
      readonly state: AmmState
      readonly ticks: LoadedTicks | null
    }
  /** The events cannot have led to this state: some are missing. */
  | { readonly kind: 'CONTRADICTED' }

/** Additional knowledge about the time before the window: the state read there, or earlier events. */
export type Before = {
  readonly read: AmmState | null
  /** Oldest first, and none missing after the first. */
  readonly older: readonly PoolEvent[]
}

const CONTRADICTED = { kind: 'CONTRADICTED' } as const

/** `events` are all of the pool's events in the window, oldest first; `loaded` is the state after them. */
export function startOf(loaded: LoadedPool, events: readonly PoolEvent[], before: Before): Start {
  if (events.some(({ event }) => event.kind === 'CREATED')) return { kind: 'BORN' }
  const own = events.flatMap(ownEvent)
  if (own.length === 0) return { kind: 'STATE', state: loaded.state, ticks: loaded.ticks }
  const found = stateBefore(loaded, own, before)
  return found === null ? shortStart(loaded, own) : withTicks(loaded, own, found)
}

/** Whether these events, all of the pool's in the window, contain the state before the first of them. */
export function isStartStated({ fee }: NewPool, events: readonly PoolEvent[]): boolean {
  if (events.some(({ event }) => event.kind === 'CREATED')) return true
  const adapter = adapterOf(fee.family)
  // Which events contain it does not depend on the latest state, so any state will do.
  return adapter.before(adapter.empty(fee), events.flatMap(ownEvent)) !== null
}

/** Taken from the window's own events, otherwise from the state read before it, otherwise from older events. */
function stateBefore(loaded: LoadedPool, own: readonly AmmEvent[], { read, older }: Before): AmmState | null {
  const adapter = adapterOf(loaded.pool.fee.family)
  return adapter.before(loaded.state, own) ?? read ?? adapter.after(older.flatMap(ownEvent), loaded.state)
}

const ownEvent = ({ event }: PoolEvent): readonly AmmEvent[] => (event.kind === 'CREATED' ? [] : [event])

/** The ticks as they were before these events. */
function withTicks(loaded: LoadedPool, own: readonly AmmEvent[], state: AmmState): Start {
  if (!adapterOf(loaded.pool.fee.family).isPossible(state)) return CONTRADICTED
  const ticks = ticksBefore(loaded, own)
  return ticks === undefined ? CONTRADICTED : { kind: 'STATE', state, ticks }
}

function ticksBefore({ pool, ticks }: LoadedPool, own: readonly AmmEvent[]): LoadedTicks | null | undefined {
  if (ticks === null) return null
  const adapter = adapterOf(pool.fee.family)
  const book = adapter.book(adapter.terms(pool.fee, ticks))
  if (book === null) return undefined
  for (const event of own.toReversed()) {
    const change = adapter.tickChange(event)
    if (change !== null && !book.change({ ...change, delta: -change.delta })) return undefined
  }
  return { range: ticks.range, entries: book.entries() }
}

/** The past begins with the first event after which the whole state is known. */
function shortStart(loaded: LoadedPool, own: readonly AmmEvent[]): Start {
  const first = adapterOf(loaded.pool.fee.family).first(own, loaded.state)
  if (first === null) return CONTRADICTED
  const { at, state } = first
  const ticks = ticksBefore(loaded, own.slice(at + 1))
  return ticks === undefined ? CONTRADICTED : { kind: 'SHORT', at, state, ticks }
}
