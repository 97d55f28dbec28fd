/**
 * How long ago a pool was last verified, in tenths of its time to live. A bound belongs to the fresher band; after
 * the whole time to live the hop has expired.
 */
import type { PoolState } from '../entities.ts'
import type { ProvenRun } from '../chain/block.ts'
import { type Ms, ms, type Score, score } from '../units.ts'
import { FOREVER, type Timed } from './timed.ts'

export type Freshness = { readonly score: Score; readonly ageMs: Ms; readonly ttlMs: Ms }

/** `[tenths of the time to live, inclusive, score]`; past the last band the score is 5 until the hop expires. */
const UP_TO = [
  [1, score(10)],
  [2, score(9)],
  [4, score(8)],
  [6, score(7)],
  [8, score(6)],
] as const

export function freshness(verifiedMs: Ms, ttlMs: Ms, atMs: Ms): Timed<Freshness> {
  // The timestamp of a block may be ahead of our clock.
  const ageMs = ms(Math.max(0, atMs - verifiedMs))
  if (ageMs >= ttlMs) return { value: { score: score(0), ageMs, ttlMs }, untilMs: FOREVER }
  const sinceMs = atMs - ageMs
  for (const [tenths, value] of UP_TO)
    if (10 * ageMs <= tenths * ttlMs) {
      // The first whole millisecond past the band. For a tiny time to live this may be the moment of expiry.
      const endMs = Math.min(Math.floor((tenths * ttlMs) / 10) + 1, ttlMs)
      return { value: { score: value, ageMs, ttlMs }, untilMs: ms(sinceMs + endMs) }
    }
  return { value: { score: score(5), ageMs, ttlMs }, untilMs: ms(sinceMs + ttlMs) }
}

/** No longer in the best band. */
export const isAged = (verifiedMs: Ms, ttlMs: Ms, atMs: Ms): boolean => 10 * (atMs - verifiedMs) > ttlMs

type Verified = Pick<PoolState, 'verifiedMs' | 'verifiedNumber'>

/** The time of the last verification: the pool's own, or that of a proven run that reaches back to it. */
export function verifiedAt(runs: readonly ProvenRun[], state: Verified): Ms {
  for (let at = runs.length - 1; at >= 0; at--) {
    const run = runs[at] as ProvenRun
    if (state.verifiedNumber > run.last) break
    if (state.verifiedNumber >= run.first - 1)
      return run.lastMs > state.verifiedMs ? run.lastMs : state.verifiedMs
  }
  return state.verifiedMs
}
