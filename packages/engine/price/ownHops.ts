/** What a token's own first hops say together: when to look again, when it last traded, and whether one has aged. */
import type { Address } from '../chain/block.ts'
import type { Pool } from '../state.ts'
import { type Ms, ms } from '../units.ts'
import { freshnessScore } from './bands.ts'
import { CLIMBING_MS, deadUntil, edgeOf, verifiedAt } from './edge.ts'
import type { Edge, Route } from './evaluation.ts'
import type { Moment } from './moment.ts'

const NEVER = ms(Number.POSITIVE_INFINITY)

export class OwnHops {
  readonly pools: readonly Pool[]
  /** Those that may have a price to give. */
  readonly edges: readonly Edge[]
  readonly #dead: readonly Pool[]
  readonly #dueMs: Ms
  /** One is not as fresh as it was: a proven block would do it good. */
  readonly isAged: boolean

  constructor(moment: Moment, token: Address) {
    const { atMs, ttlMs, state } = moment
    const { proven } = state.chain
    const latest = proven.at(-1)
    const isLatestFresh = latest !== undefined && freshnessScore(ms(atMs - latest.lastMs), ttlMs) === 10
    const edges: Edge[] = []
    const dead: Pool[] = []
    let dueMs = NEVER
    let isAged = false
    const pools = state.index.ownPools.get(token) ?? []
    for (const pool of pools) {
      if (!pool.around.isAnchored && isLatestFresh && dueMs <= latest.lastMs + ttlMs) {
        // Fresh, and not the first to change: half of all hops need no closer look.
        const { verifiedNumber } = pool.state
        if (verifiedNumber >= latest.first - 1 && verifiedNumber <= latest.last) continue
      }
      let due = deadUntil(moment, pool)
      if (due === null) {
        const edge = edgeOf(moment, pool)
        edges.push(edge)
        due = edge.dueMs
      } else if (pool.around.isAnchored) dead.push(pool)
      if (due < dueMs) dueMs = due
      if (freshnessScore(ms(atMs - verifiedAt(proven, pool.state)), ttlMs) < 10) isAged = true
    }
    this.pools = pools
    this.edges = edges
    this.#dead = dead
    this.#dueMs = dueMs
    this.isAged = isAged
  }

  /** Pools whose hops have no price to give: more than half of them all, and worked out for whoever asks why not. */
  get dead(): readonly Pool[] {
    return [...this.#dead, ...this.pools.filter(pool => !pool.around.isAnchored)]
  }

  /** When time alone may change one of them; what lies behind them has dues of its own, but for its depth. */
  get dueMs(): Ms | null {
    return this.#dueMs === NEVER ? null : this.#dueMs
  }

  get lastTradeMs(): Ms | null {
    let latest: Ms | null = null
    for (const { state } of this.pools) {
      const traded = state.lastTradeMs
      if (traded !== null && (latest === null || traded > latest)) latest = traded
    }
    return latest
  }
}

/**
 * When to weigh the routes again because depth behind their first hops still climbs. Only depth that all that is
 * claimed would not fit through has a say in their weights.
 */
export function climbingDue({ atMs }: Moment, routes: readonly Route[], claimed: bigint): Ms | null {
  const isBinding = routes.some(({ via }) => via?.isClimbing && via.route.capacity <= claimed)
  return isBinding ? ms(atMs + CLIMBING_MS) : null
}
