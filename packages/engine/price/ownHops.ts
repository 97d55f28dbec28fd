/** What a token's own first hops say together: when to look again, when it last traded, and whether one has aged. */
import type { Address } from '../chain/block.ts'
import { type Ms, ms } from '../units.ts'
import { CLIMBING_MS, edgeOf } from './edge.ts'
import type { Edge, Route } from './evaluation.ts'
import type { Moment } from './moment.ts'

export type OwnHops = {
  readonly edges: readonly Edge[]
  /** When time alone may change one of them; what lies behind them has dues of its own, but for its depth. */
  readonly dueMs: Ms | null
  readonly lastTradeMs: Ms | null
  /** One is not as fresh as it was: a proven block would do it good. */
  readonly isAged: boolean
}

export function ownHopsOf(moment: Moment, token: Address): OwnHops {
  const edges: Edge[] = []
  let dueMs: Ms | null = null
  let lastTradeMs: Ms | null = null
  let isAged = false
  for (const pool of moment.state.index.ownPools.get(token) ?? []) {
    const edge = edgeOf(moment, pool)
    edges.push(edge)
    const due = edge.dueMs
    if (due < Infinity && (dueMs === null || due < dueMs)) dueMs = due
    const traded = edge.state.lastTradeMs
    if (traded !== null && (lastTradeMs === null || traded > lastTradeMs)) lastTradeMs = traded
    if (edge.freshness.score < 10) isAged = true
  }
  return { edges, dueMs, lastTradeMs, isAged }
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
