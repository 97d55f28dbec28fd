/**
 * Stored states as a reader sees them now: a price past its expiry is presented as UNPRICED `ROUTE_EXPIRED`, even
 * before the retraction that says so is on the log.
 */

type Priced = {
  readonly state: string
  readonly expires_at_ms?: number | null
  readonly evaluated_at_ms?: number
  readonly as_of?: unknown
  readonly policy_version?: string
}

/** A compact state, or a full quote: the head of it decides. */
export function presentState<State extends object>(stored: State, nowMs: number): object {
  const head = stored as unknown as Priced
  if (
    head.state !== 'PRICED' ||
    head.expires_at_ms === null ||
    head.expires_at_ms === undefined ||
    head.expires_at_ms > nowMs
  )
    return stored
  const { chain_id, token, source, last_trade_ms } = stored as Record<string, unknown>
  const identity = chain_id === undefined ? {} : { chain_id, token, source, last_trade_ms, candidates: [] }
  return {
    ...identity,
    state: 'UNPRICED',
    reason: 'ROUTE_EXPIRED',
    evaluated_at_ms: head.evaluated_at_ms,
    as_of: head.as_of,
    policy_version: head.policy_version,
  }
}

export const presentText = (text: string | null, nowMs: number): object | null =>
  text === null ? null : presentState(JSON.parse(text) as object, nowMs)
