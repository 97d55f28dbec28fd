/**
 * The state of a pool before the first of its events in a window, from the state after the last of them (R-history-2). Events
 * are taken back newest first; what they do not say has to be read, or is found in an older event.
 *
 * Nothing here is believed: what is found is folded forwards again, and must end where the chain says it ends.
 */
import type { V2Event, V2State, V3Event, V3State } from '../amm/states.ts'
import type { LoadedPool, LoadedTicks } from '../input.ts'
import { type Count, count, tick } from '../units.ts'
import type { PoolEvent } from './block.ts'
import { termsOf } from './registry.ts'

type Amm = V2State | V3State
type Event = V2Event | V3Event

export type Start =
  /** Its factory's log is in the window: there was no pool before. */
  | { readonly kind: 'BORN' }
  | { readonly kind: 'STATE'; readonly state: Amm; readonly ticks: LoadedTicks | null }
  /** The state before is in no event of the window: it has to be read there, or searched for. */
  | { readonly kind: 'ASK' }
  /** Not to be had: the past begins behind this one of the events, and `state` is what it left. */
  | {
      readonly kind: 'SHORT'
      readonly at: Count
      readonly state: Amm
      readonly ticks: LoadedTicks | null
    }
  /** The events cannot have led to this state: some are missing. */
  | { readonly kind: 'CONTRADICTED' }

/** What is known of the time before the window besides: the state as it was read there, or events that came before. */
export type Before = {
  readonly read: Amm | null
  /** Oldest first, and none missing behind the first; null where none were looked for. */
  readonly older: readonly PoolEvent[] | null
}

const CONTRADICTED = { kind: 'CONTRADICTED' } as const

/** `events` are all of the pool's in the window, oldest first; `loaded` is how they left it. */
export function startOf(loaded: LoadedPool, events: readonly PoolEvent[], before: Before): Start {
  if (events.some(({ event }) => event.kind === 'CREATED')) return { kind: 'BORN' }
  const own = events.map(({ event }) => event as Event)
  if (own.length === 0) return { kind: 'STATE', state: loaded.state, ticks: loaded.ticks }
  const found = stateBefore(loaded, own, before)
  if (found !== null) return withTicks(loaded, own, found)
  if (before.older === null) return { kind: 'ASK' }
  return shortStart(loaded, own)
}

function stateBefore(loaded: LoadedPool, own: readonly Event[], { read, older }: Before): Amm | null {
  if (loaded.state.family === 'amm_v2') return beforeSync(own) ?? read ?? lastSaid(loaded, older)
  const said = own.find(({ kind }) => kind === 'SWAP' || kind === 'INITIALIZE')
  if (said === undefined) return without(loaded.state, own)
  // Nobody can trade or add liquidity before there is a price.
  if (said.kind === 'INITIALIZE') return { family: 'amm_v3', sqrtPriceX96: 0n, tick: tick(0), liquidity: 0n }
  return read ?? lastSaid(loaded, older)
}

/** The reserves before the first Sync, where the event that explains it holds the whole difference. */
function beforeSync([sync, why]: readonly Event[]): V2State | null {
  if (sync?.kind !== 'SYNC' || why === undefined) return null
  const { reserve0, reserve1 } = sync
  if (why.kind === 'MINT' && 'amount0' in why) return reserves(reserve0 - why.amount0, reserve1 - why.amount1)
  if (why.kind === 'SWAP' && 'amount0In' in why)
    return reserves(reserve0 - why.amount0In + why.amount0Out, reserve1 - why.amount1In + why.amount1Out)
  // A Burn pays from balances, which may hold more than the reserves did.
  return null
}

const reserves = (reserve0: bigint, reserve1: bigint): V2State | null =>
  reserve0 < 0n || reserve1 < 0n ? null : { family: 'amm_v2', reserve0, reserve1 }

/** The state that older events left: the newest that says a price or reserves, and liquidity since. */
function lastSaid(loaded: LoadedPool, older: readonly PoolEvent[] | null): Amm | null {
  const own = (older ?? []).flatMap(({ event }) => (event.kind === 'CREATED' ? [] : [event]))
  const at = own.findLastIndex(each => saidBy(each) !== null)
  const said = own[at]
  if (said === undefined) return null
  const after = saidBy(said)
  if (after === null || after.family !== loaded.state.family) return null
  return after.family === 'amm_v2'
    ? after
    : own.slice(at + 1).reduce((state, event) => withLiquidity(state, event, 1n), after)
}

function saidBy(event: Event): Amm | null {
  if (event.kind === 'SYNC') return { family: 'amm_v2', reserve0: event.reserve0, reserve1: event.reserve1 }
  if (event.kind === 'INITIALIZE')
    return { family: 'amm_v3', sqrtPriceX96: event.sqrtPriceX96, tick: event.tick, liquidity: 0n }
  if (event.kind !== 'SWAP' || !('sqrtPriceX96' in event)) return null
  const { sqrtPriceX96, liquidity } = event
  return { family: 'amm_v3', sqrtPriceX96, tick: event.tick, liquidity }
}

/** The price stood still: only liquidity around it is taken back. */
function without(state: V3State, own: readonly Event[]): V3State {
  return own.toReversed().reduce((after, event) => withLiquidity(after, event, -1n), state)
}

function withLiquidity(state: V3State, event: Event, sign: 1n | -1n): V3State {
  if (!('tickLower' in event)) return state
  const isInside = state.sqrtPriceX96 > 0n && state.tick >= event.tickLower && state.tick < event.tickUpper
  if (!isInside) return state
  const added = event.kind === 'MINT' ? event.liquidity : -event.liquidity
  return { ...state, liquidity: state.liquidity + sign * added }
}

/** The ticks as they were before these events. */
function withTicks(loaded: LoadedPool, own: readonly Event[], state: Amm): Start {
  if (state.family === 'amm_v3' && state.liquidity < 0n) return CONTRADICTED
  const ticks = ticksBefore(loaded, own)
  return ticks === undefined ? CONTRADICTED : { kind: 'STATE', state, ticks }
}

function ticksBefore({ pool, ticks }: LoadedPool, own: readonly Event[]): LoadedTicks | null | undefined {
  if (ticks === null) return null
  const terms = termsOf(pool, ticks)
  if (terms.family !== 'amm_v3') return undefined
  for (const event of own.toReversed()) {
    if (!('tickLower' in event)) continue
    const { tickLower: lower, tickUpper: upper, liquidity } = event
    const delta = event.kind === 'MINT' ? -liquidity : liquidity
    if (!terms.book.change({ lower, upper, delta })) return undefined
  }
  return { range: ticks.range, entries: terms.book.entries() }
}

/** The past begins with the first event that says the whole price. */
function shortStart(loaded: LoadedPool, own: readonly Event[]): Start {
  const first = own.findIndex(each => saidBy(each) !== null)
  const said = own[first]
  const state = said === undefined ? null : saidBy(said)
  // The Burn that a Sync stands for explains what is already in it.
  const at = said?.kind === 'SYNC' && own[first + 1]?.kind === 'BURN' ? first + 1 : first
  if (state === null || state.family !== loaded.state.family) return CONTRADICTED
  const ticks = ticksBefore(loaded, own.slice(at + 1))
  return ticks === undefined ? CONTRADICTED : { kind: 'SHORT', at: count(at), state, ticks }
}
