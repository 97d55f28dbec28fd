/** What a token's own first hops say together: when to look again, when it last traded, and whether one has aged. */
import type { Address } from '../../chain/block.ts'
import { earlier, FOREVER } from '../../rules/timed.ts'
import type { OwnPools } from '../../entities.ts'
import type { Ms } from '../../units.ts'
import type { Edge } from '../evaluation.ts'
import type { Moment } from '../moment.ts'

const NO_POOLS: OwnPools = { anchored: [], aside: [] }

export class OwnHops {
  readonly edges: readonly Edge[]
  /** When time alone may change one of them; what lies behind them has dues of its own, but for its depth. */
  readonly dueMs: Ms | null
  /** One is not as fresh as it was: a proven block would do it good. */
  readonly isAged: boolean

  constructor(moment: Moment, token: Address) {
    const pools = moment.state.index.ownPools.get(token) ?? NO_POOLS
    let dueMs = FOREVER
    let isAged = false
    this.edges = [...pools.anchored, ...pools.aside].map(pool => {
      const edge = moment.edge(pool)
      dueMs = earlier(dueMs, edge.dueMs)
      if (edge.freshness.score < 10) isAged = true
      return edge
    })
    this.dueMs = dueMs === FOREVER ? null : dueMs
    this.isAged = isAged
  }

  get lastTradeMs(): Ms | null {
    let latest: Ms | null = null
    for (const { state } of this.edges) {
      const traded = state.lastTradeMs
      if (traded !== null && (latest === null || traded > latest)) latest = traded
    }
    return latest
  }
}
