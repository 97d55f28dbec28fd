/** What a token's own first hops say together: when to look again, when it last traded, and whether one has aged. */
import type { Address } from '../chain/block.ts'
import type { Pool } from '../state.ts'
import { type Ms, ms } from '../units.ts'
import { freshnessScore } from './bands.ts'
import { CLIMBING_MS, deadUntil, edgeOf, verifiedAt } from './edge.ts'
import type { Edge, Route } from './evaluation.ts'
import type { Moment } from './moment.ts'

export type OwnHops = {
  readonly edges: readonly Edge[]
  /** Pools whose hops have no price to give: more than half of them all, and worked out for whoever asks why not. */
  readonly dead: readonly Pool[]
  /** When time alone may change one of them; what lies behind them has dues of its own, but for its depth. */
  readonly dueMs: Ms | null
  readonly lastTradeMs: Ms | null
  /** One is not as fresh as it was: a proven block would do it good. */
  readonly isAged: boolean
}

export function ownHopsOf(moment: Moment, token: Address): OwnHops {
  const { atMs, ttlMs, state } = moment
  const { proven } = state.chain
  const edges: Edge[] = []
  const dead: Pool[] = []
  let dueMs = ms(Infinity)
  let lastTradeMs: Ms | null = null
  let isAged = false
  for (const pool of state.index.ownPools.get(token) ?? []) {
    let due = deadUntil(moment, pool)
    if (due === null) {
      const edge = edgeOf(moment, pool)
      edges.push(edge)
      due = edge.dueMs
    } else dead.push(pool)
    if (due < dueMs) dueMs = due
    const traded = pool.state.lastTradeMs
    if (traded !== null && (lastTradeMs === null || traded > lastTradeMs)) lastTradeMs = traded
    if (freshnessScore(ms(atMs - verifiedAt(proven, pool.state)), ttlMs) < 10) isAged = true
  }
  return { edges, dead, dueMs: dueMs === Infinity ? null : dueMs, lastTradeMs, isAged }
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
