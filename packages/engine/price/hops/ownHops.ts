/**
 * The combined view of a token's own first hops: when to evaluate again, when the token last traded, and whether a
 * hop has aged.
 */
import type { Address } from '../../chain/block.ts'
import { isPassed } from '../../memory/unanchoredPools.ts'
import { isAged, verifiedAt } from '../../rules/freshness.ts'
import { earlier, FOREVER } from '../../rules/timed.ts'
import type { OwnPools, Pool } from '../../entities.ts'
import type { Ms } from '../../units.ts'
import type { Edge } from '../evaluation.ts'
import type { Moment } from '../moment.ts'
import { deadUntil } from './deadHop.ts'

const NO_POOLS: OwnPools = { anchored: [], unanchored: [], unanchoredVerified: null }

export class OwnHops {
  /** Hops that may have a price, in their usual order. */
  readonly live: readonly Edge[]
  /**
   * When time alone may change one of the hops. The assets behind them have due times of their own, except for their
   * depth.
   */
  readonly dueMs: Ms | null
  /** One hop is no longer in the best freshness band: proving a block would make it fresh again. */
  readonly isAged: boolean
  readonly #moment: Moment
  readonly #pools: OwnPools

  constructor(moment: Moment, token: Address) {
    const { atMs, ttlMs, state } = moment
    const { proven } = state.chain
    const pools = state.index.ownPools.get(token) ?? NO_POOLS
    const live: Edge[] = []
    let dueMs = FOREVER
    let isOneAged = false
    const look = (pool: Pool): void => {
      const verifiedMs = verifiedAt(proven, pool.state)
      let ownMs = deadUntil(moment, pool, verifiedMs)
      if (ownMs === null) {
        const edge = moment.edge(pool)
        live.push(edge)
        ownMs = edge.dueMs
      }
      dueMs = earlier(dueMs, ownMs)
      if (isAged(verifiedMs, ttlMs, atMs)) isOneAged = true
    }
    for (const pool of pools.anchored) look(pool)
    if (!isPassed(pools, proven.at(-1), moment, dueMs)) for (const pool of pools.unanchored) look(pool)
    this.live = live
    this.dueMs = dueMs === FOREVER ? null : dueMs
    this.isAged = isOneAged
    this.#moment = moment
    this.#pools = pools
  }

  get isEmpty(): boolean {
    return this.#pools.anchored.length + this.#pools.unanchored.length === 0
  }

  /** All hops, evaluated, to explain why one has no price. */
  get edges(): readonly Edge[] {
    return [...this.#pools.anchored, ...this.#pools.unanchored].map(pool => this.#moment.edge(pool))
  }

  get lastTradeMs(): Ms | null {
    let latest: Ms | null = null
    for (const pools of [this.#pools.anchored, this.#pools.unanchored])
      for (const { state } of pools) {
        const traded = state.lastTradeMs
        if (traded !== null && (latest === null || traded > latest)) latest = traded
      }
    return latest
  }
}
