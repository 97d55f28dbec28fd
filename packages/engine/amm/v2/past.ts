/** The reserves of a pair derived from its events, without reading the chain. */
import type { Events } from '../adapter.ts'
import type { V2, V2Event, V2State } from './kind.ts'
import { count } from '../../units.ts'

/** The event that follows a Sync explains that Sync. */
export const explains = ({ kind }: V2Event): boolean => kind !== 'SYNC'

/** The reserves before the first Sync, when the event that explains it holds the whole difference. */
export const before: Events<V2>['before'] = (state, events) => {
  const [sync, why] = events
  if (sync === undefined) return state
  if (sync.kind !== 'SYNC' || why === undefined) return null
  const { reserve0, reserve1 } = sync
  if (why.kind === 'MINT') return reserves(reserve0 - why.amount0, reserve1 - why.amount1)
  if (why.kind === 'SWAP')
    return reserves(reserve0 - why.amount0In + why.amount0Out, reserve1 - why.amount1In + why.amount1Out)
  // A Burn pays from balances, which may have exceeded the reserves.
  return null
}

export const after: Events<V2>['after'] = events => said(events.findLast(({ kind }) => kind === 'SYNC'))

export const first: Events<V2>['first'] = events => {
  const at = events.findIndex(({ kind }) => kind === 'SYNC')
  const state = said(events[at])
  if (state === null) return null
  // The Burn after a Sync explains changes already in that Sync.
  return { at: count(events[at + 1]?.kind === 'BURN' ? at + 1 : at), state }
}

const said = (event: V2Event | undefined): V2State | null =>
  event?.kind === 'SYNC' ? { family: 'amm_v2', reserve0: event.reserve0, reserve1: event.reserve1 } : null

const reserves = (reserve0: bigint, reserve1: bigint): V2State | null =>
  reserve0 < 0n || reserve1 < 0n ? null : { family: 'amm_v2', reserve0, reserve1 }
