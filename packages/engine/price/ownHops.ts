/** What a token's own first hops say together: when to look again, and when it last traded. */
import type { Address } from '../chain/block.ts'
import { type Ms, ms } from '../units.ts'
import { CLIMBING_MS, edgeOf } from './edge.ts'
import type { Route } from './evaluation.ts'
import type { Moment } from './moment.ts'

/** When time alone may change one of the token's own hops; what lies behind them has dues of its own, but for its depth. */
export function dueOf(moment: Moment, token: Address): Ms | null {
  let due: Ms | null = null
  for (const pool of moment.state.index.ownPools.get(token) ?? []) {
    const { dueMs } = edgeOf(moment, pool)
    if (Number.isFinite(dueMs) && (due === null || dueMs < due)) due = dueMs
  }
  return due
}

/**
 * When to weigh the routes again because depth behind their first hops still climbs. Only depth that all claims together
 * would not fit through has a say in their weights.
 */
export function climbingDue({ atMs }: Moment, routes: readonly Route[]): Ms | null {
  if (!routes.some(({ via }) => via?.isClimbing)) return null
  const total = routes.reduce((sum, { capacity }) => sum + capacity, 0n)
  const isBinding = routes.some(({ via }) => via?.isClimbing && via.route.capacity <= total)
  return isBinding ? ms(atMs + CLIMBING_MS) : null
}

export function lastTradeOf(moment: Moment, token: Address): Ms | null {
  let last: Ms | null = null
  for (const { state } of moment.state.index.ownPools.get(token) ?? [])
    if (state.lastTradeMs !== null && (last === null || state.lastTradeMs > last)) last = state.lastTradeMs
  return last
}
