/**
 * The state of an Algebra pool derived from its events: its slot as for any pool with ticks, and the fee from the
 * last Fee log.
 */
import { count, type Count } from '../../units.ts'
import type { Events } from '../adapter.ts'
import { NOWHERE, slotAfter, slotBefore, slotOf, tickChange } from '../slotPast.ts'
import type { Slot } from '../states.ts'
import type { Algebra, AlgebraEvent, AlgebraState } from './kind.ts'

/** A pool starts with this fee, and no log states it. */
export const BASE_FEE_PPM = 100n

export const stateOf = ({ sqrtPriceX96, tick, liquidity }: Slot, feePpm: bigint): AlgebraState => ({
  family: 'amm_algebra_v1',
  sqrtPriceX96,
  tick,
  liquidity,
  feePpm,
})

export const NEWBORN = stateOf(NOWHERE, BASE_FEE_PPM)

// Before there is a price nobody trades, so nothing changes the fee.
export const before: Events<Algebra>['before'] = (state, events) =>
  slotBefore(state, events, tickChange, NEWBORN)

export const after: Events<Algebra>['after'] = events => {
  const slot = slotAfter(events.slice(events.findLastIndex(event => slotOf(event) !== null)))
  const feePpm = feeAfter(events)
  return slot === null || feePpm === null ? null : stateOf(slot, feePpm)
}

export const first: Events<Algebra>['first'] = (events, now) => {
  const price = events.findIndex(event => slotOf(event) !== null)
  const fee = events.findIndex(({ kind }) => kind === 'FEE' || kind === 'INITIALIZE')
  if (price < 0 || fee < 0) return null
  const at: Count = count(price > fee ? price : fee)
  const state = after(events.slice(0, at + 1), now)
  return state === null ? null : { at, state }
}

function feeAfter(events: readonly AlgebraEvent[]): bigint | null {
  const said = events.findLast(({ kind }) => kind === 'FEE' || kind === 'INITIALIZE')
  if (said === undefined) return null
  return said.kind === 'FEE' ? BigInt(said.feePpm) : BASE_FEE_PPM
}
