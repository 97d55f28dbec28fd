/** What a token's own first hops say together: when to look again, and when it last traded. */
import type { Address } from '../chain/block.ts'
import type { Ms } from '../units.ts'
import { edgeOf } from './edge.ts'
import type { Moment } from './moment.ts'

/** When time alone may change one of the token's own hops; what lies behind them has dues of its own. */
export function dueOf(moment: Moment, token: Address): Ms | null {
  let due: Ms | null = null
  for (const pool of moment.state.index.ownPools.get(token) ?? []) {
    const { dueMs } = edgeOf(moment, pool)
    if (Number.isFinite(dueMs) && (due === null || dueMs < due)) due = dueMs
  }
  return due
}

export function lastTradeOf(moment: Moment, token: Address): Ms | null {
  let last: Ms | null = null
  for (const { state } of moment.state.index.ownPools.get(token) ?? [])
    if (state.lastTradeMs !== null && (last === null || state.lastTradeMs > last)) last = state.lastTradeMs
  return last
}
