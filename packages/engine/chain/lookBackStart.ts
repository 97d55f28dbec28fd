/**
 * The state of a pool before the first of its events in a window, from the state after the last of them (R-history-2). Events
 * are taken back newest first; what they do not say has to be read, or is found in an older event.
 *
 * Nothing here is believed: what is found is folded forwards again, and must end where the chain says it ends.
 */
import { adapterOf, type AmmEvent, type AmmState } from '../amm/families.ts'
import type { LoadedTicks } from '../amm/tickBook.ts'
import type { LoadedPool } from '../input.ts'
import type { Count } from '../units.ts'
import type { PoolEvent } from './block.ts'

export type Start =
  /** Its factory's log is in the window: there was no pool before. */
  | { readonly kind: 'BORN' }
  | { readonly kind: 'STATE'; readonly state: AmmState; readonly ticks: LoadedTicks | null }
  /** The state before is in no event of the window: it has to be read there, or searched for. */
  | { readonly kind: 'ASK' }
  /** Not to be had: the past begins behind this one of the events, and `state` is what it left. */
  | {
      readonly kind: 'SHORT'
      readonly at: Count
      readonly state: AmmState
      readonly ticks: LoadedTicks | null
    }
  /** The events cannot have led to this state: some are missing. */
  | { readonly kind: 'CONTRADICTED' }

/** What is known of the time before the window besides: the state as it was read there, or events that came before. */
export type Before = {
  readonly read: AmmState | null
  /** Oldest first, and none missing behind the first; null where none were looked for. */
  readonly older: readonly PoolEvent[] | null
}

const CONTRADICTED = { kind: 'CONTRADICTED' } as const

/** `events` are all of the pool's in the window, oldest first; `loaded` is how they left it. */
export function startOf(loaded: LoadedPool, events: readonly PoolEvent[], before: Before): Start {
  if (events.some(({ event }) => event.kind === 'CREATED')) return { kind: 'BORN' }
  const own = events.flatMap(ownEvent)
  if (own.length === 0) return { kind: 'STATE', state: loaded.state, ticks: loaded.ticks }
  const found = stateBefore(loaded, own, before)
  if (found !== null) return withTicks(loaded, own, found)
  if (before.older === null) return { kind: 'ASK' }
  return shortStart(loaded, own)
}

/** What the window's own events say of it, else what was read there, else what older events left. */
function stateBefore(loaded: LoadedPool, own: readonly AmmEvent[], { read, older }: Before): AmmState | null {
  const adapter = adapterOf(loaded.pool.fee.family)
  return (
    adapter.before(loaded.state, own) ?? read ?? adapter.after((older ?? []).flatMap(ownEvent), loaded.state)
  )
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

/** The past begins with the first event up to which the whole state is said. */
function shortStart(loaded: LoadedPool, own: readonly AmmEvent[]): Start {
  const first = adapterOf(loaded.pool.fee.family).first(own, loaded.state)
  if (first === null) return CONTRADICTED
  const { at, state } = first
  const ticks = ticksBefore(loaded, own.slice(at + 1))
  return ticks === undefined ? CONTRADICTED : { kind: 'SHORT', at, state, ticks }
}
