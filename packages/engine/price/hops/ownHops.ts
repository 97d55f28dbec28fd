/** What a token's own first hops say together: when to look again, when it last traded, and whether one has aged. */
import type { Address } from '../../chain/block.ts'
import type { OwnPools, Pool } from '../../state.ts'
import { count, type Ms, ms } from '../../units.ts'
import { freshnessScore } from '../../rules/bands.ts'
import { CLIMBING_MS, deadUntil, edgeOf, verifiedAt } from './edge.ts'
import type { Edge, Route } from '../evaluation.ts'
import { figuresOf } from './figures.ts'
import type { Moment } from '../moment.ts'

const NEVER = ms(Number.POSITIVE_INFINITY)

const NO_POOLS: OwnPools = { anchored: [], aside: [], asideVerified: null }

export class OwnHops {
  readonly #pools: OwnPools
  /** Those that may have a price to give. */
  readonly edges: readonly Edge[]
  readonly #dead: readonly Pool[]
  readonly #dueMs: Ms
  /** One is not as fresh as it was: a proven block would do it good. */
  readonly isAged: boolean

  constructor(moment: Moment, token: Address) {
    const { atMs, ttlMs, state } = moment
    const { proven } = state.chain
    const edges: Edge[] = []
    const dead: Pool[] = []
    let dueMs = NEVER
    let isAged = false
    const pools = state.index.ownPools.get(token) ?? NO_POOLS
    for (const list of [pools.anchored, pools.aside]) {
      if (list === pools.aside && isPassed(moment, pools, dueMs)) break
      for (const pool of list) {
        const figures = figuresOf(moment, pool)
        const verifiedMs = verifiedAt(proven, figures)
        let due = deadUntil(moment, pool, figures, verifiedMs)
        if (due === null) {
          const edge = edgeOf(moment, pool)
          edges.push(edge)
          due = edge.dueMs
        } else dead.push(pool)
        if (due < dueMs) dueMs = due
        if (freshnessScore(ms(atMs - verifiedMs), ttlMs) < 10) isAged = true
      }
    }
    this.#pools = pools
    this.edges = edges
    this.#dead = dead
    this.#dueMs = dueMs
    this.isAged = isAged
  }

  get isEmpty(): boolean {
    return this.#pools.anchored.length + this.#pools.aside.length === 0
  }

  /** Pools whose hops have no price to give: more than half of them all, and worked out for whoever asks why not. */
  get dead(): readonly Pool[] {
    return [...new Set([...this.#dead, ...this.#pools.aside])]
  }

  /** When time alone may change one of them; what lies behind them has dues of its own, but for its depth. */
  get dueMs(): Ms | null {
    return this.#dueMs === NEVER ? null : this.#dueMs
  }

  get lastTradeMs(): Ms | null {
    let latest: Ms | null = null
    for (const { state } of [...this.#pools.anchored, ...this.#pools.aside]) {
      const traded = state.lastTradeMs
      if (traded !== null && (latest === null || traded > latest)) latest = traded
    }
    return latest
  }
}

/** Whether the pools aside are all fresh, and none of them the first to change: then they need no closer look. */
function isPassed({ atMs, ttlMs, state }: Moment, pools: OwnPools, dueMs: Ms): boolean {
  if (pools.aside.length === 0) return true
  const latest = state.chain.proven.at(-1)
  if (latest === undefined || latest.lastMs + ttlMs < dueMs) return false
  if (freshnessScore(ms(atMs - latest.lastMs), ttlMs) < 10) return false
  pools.asideVerified ??= verifiedBetween(pools.aside)
  const { least, most } = pools.asideVerified
  return least >= latest.first - 1 && most <= latest.last
}

function verifiedBetween(pools: readonly Pool[]) {
  const numbers = pools.map(({ state }) => state.verifiedNumber)
  return { least: count(Math.min(...numbers)), most: count(Math.max(...numbers)) }
}

/**
 * When to weigh the routes again because depth behind their first hops still climbs. Only depth that all that is
 * claimed would not fit through has a say in their weights.
 */
export function climbingDue({ atMs }: Moment, routes: readonly Route[], claimed: bigint): Ms | null {
  const isBinding = routes.some(({ via }) => via?.isClimbing && via.route.capacity <= claimed)
  return isBinding ? ms(atMs + CLIMBING_MS) : null
}
