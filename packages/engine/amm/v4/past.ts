/**
 * The state of a v4 pool derived from its logs, without reading the chain. Only the log of a change states the
 * protocol fee.
 */
import type { Events } from '../adapter.ts'
import { count } from '../../units.ts'
import { slotBefore, slotOf, withChange } from '../slotPast.ts'
import type { TickChange } from '../states.ts'
import type { V4, V4Event, V4State } from './kind.ts'
import { swapFeeOf, lpFeeFrom, protocolFeeOf } from './swapFee.ts'

export const tickChange = (event: V4Event): TickChange | null =>
  event.kind === 'MODIFY'
    ? { lower: event.tickLower, upper: event.tickUpper, delta: event.liquidityDelta }
    : null

/** A pool is initialised before anyone sets its protocol fee. */
export const before: Events<V4>['before'] = (state, events) =>
  slotBefore(state, events, tickChange, { ...state, sqrtPriceX96: 0n, liquidity: 0n, protocolFee: 0n })

/** Uses the protocol fee of `now`: it changes very rarely, and a fold that finds a different one is rejected. */
export const after: Events<V4>['after'] = (events, now) => {
  const at = events.findLastIndex(event => slotOf(event) !== null)
  const state = said(events[at], now)
  return state && events.slice(at + 1).reduce((each, event) => withChange(each, tickChange(event), 1n), state)
}

export const first: Events<V4>['first'] = (events, now) => {
  const at = events.findIndex(event => slotOf(event) !== null)
  const state = said(events[at], now)
  return state === null ? null : { at: count(at), state }
}

/** The state that the event itself gives, including the part of the fee that follows from it. */
function said(event: V4Event | undefined, now: V4State): V4State | null {
  const slot = event === undefined ? null : slotOf(event)
  if (event === undefined || slot === null) return null
  if (event.kind === 'INITIALIZE') return { ...now, ...slot, protocolFee: 0n }
  if (event.kind !== 'SWAP') return null
  const side = event.amount0 > 0n ? 0 : 1
  const isAsNow = swapFeeOf(now.protocolFee, now.lpFeePpm, side) === event.feePpm
  const lpFeePpm = isAsNow ? now.lpFeePpm : lpFeeFrom(event.feePpm, protocolFeeOf(now.protocolFee, side))
  return lpFeePpm === null ? null : { ...now, ...slot, lpFeePpm }
}
