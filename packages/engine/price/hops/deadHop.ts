/**
 * Recognises, without evaluating them, hops that cannot have a price because they lead to no anchor or are too
 * shallow. They are more than half of a token's own hops. Law: the result equals the `dueMs` of the evaluated edge,
 * which then has a `rule`. Gain: with `memory/unanchoredPools.ts` the market of `npm run bench:against` is re-priced 4 %
 * faster.
 */
import type { Pool } from '../../entities.ts'
import { memory } from '../../memory/switch.ts'
import { isFull } from '../../rules/depthAverage.ts'
import { FOREVER } from '../../rules/timed.ts'
import { type Ms, ms } from '../../units.ts'
import type { Moment } from '../moment.ts'
import { derivedAt } from './derived.ts'

/** Null when only the edge itself can decide. */
export function deadUntil(moment: Moment, pool: Pool, verifiedMs: Ms): Ms | null {
  if (!memory.isOn) return null
  const { rule, leastY } = moment.anchor(pool.to)
  // The token it leads to gets a value later in the step, so the present finding is not final.
  if (rule === 'CIRCULAR') return null
  if (derivedAt(moment, pool).flaw !== null) return FOREVER
  const { atMs, ttlMs } = moment
  const expiresAtMs = ms(verifiedMs + ttlMs)
  if (atMs >= expiresAtMs) return FOREVER
  if (rule !== null) return expiresAtMs
  const { depthY, average } = pool.state
  if (leastY === null || depthY === null || average === null) return null
  return depthY < leastY && isFull(average) ? expiresAtMs : null
}
