/**
 * Registers tokens in the watches of the anchors they are priced through; also rebuilds the watches after a restart.
 */
import { once } from '../exact/once.ts'
import type { Token } from '../entities.ts'
import type { PublishedToken } from '../record.ts'
import type { State } from '../state.ts'
import { DepthWatch, isFiled } from './depthWatch.ts'
import { MoveWatch } from './moveWatch.ts'

/** Enrolled, or unenrolled but not yet published as such. */
export function isActive(token: Token): boolean {
  if (token.enrolledAtMs !== null) return true
  const compact = token.published?.compact
  return (
    token.dormant !== null &&
    compact !== undefined &&
    !(compact.state === 'UNPRICED' && compact.reason === token.dormant)
  )
}

/** Files a followed token's own hops by their depth. */
export function fileDepths(state: State, token: Token): void {
  if (!isActive(token)) return
  for (const pool of state.index.ownPools.get(token.address)?.anchored ?? []) {
    if (!isFiled(pool)) once(state.index.depths, pool.to, () => new DepthWatch()).file(pool)
  }
}

/**
 * Files a token under the anchor prices of its last record. A token that waits for its turn is in the queue of due
 * times instead.
 */
export function fileReferences(state: State, token: Token): void {
  for (const watch of state.index.watches.values()) watch.file(token.address, null)
  refile(state, token, NO_REFERENCES)
}

export type References = PublishedToken['references']

export const NO_REFERENCES: References = []

/** The same for a token that is filed under `before` at most. */
export function refile({ index: { watches } }: State, token: Token, before: References): void {
  const now = token.isDeferred ? NO_REFERENCES : (token.published?.references ?? NO_REFERENCES)
  for (const { anchor } of before)
    if (!now.some(each => each.anchor === anchor)) watches.get(anchor)?.file(token.address, null)
  for (const { anchor, marginalUsd } of now)
    once(watches, anchor, () => new MoveWatch()).file(token.address, marginalUsd)
}
