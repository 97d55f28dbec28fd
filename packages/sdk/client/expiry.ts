/**
 * A price lives until `expires_at_ms`, whether or not a record says so. Readers enforce it themselves: a
 * service that fell silent must not leave an old price standing.
 */
import type { CompactState } from '../wire/price.ts'

/** The state as it holds at `nowMs`. */
export function stateAt(state: CompactState, nowMs: number): CompactState {
  if (state.state !== 'PRICED' || state.expires_at_ms === null || nowMs < state.expires_at_ms) return state
  return {
    state: 'UNPRICED',
    reason: 'ROUTE_EXPIRED',
    evaluated_at_ms: state.evaluated_at_ms,
    as_of: state.as_of,
    policy_version: state.policy_version,
  }
}
