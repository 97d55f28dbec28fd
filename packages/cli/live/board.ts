/** The table of `assay watch`: chains with their health, and every token with price, change, score and age. */
import type { Follower, FollowStatus, Health } from '@assay/sdk'
import { paint, paintChange, paintScore, paintStatus } from '../terminal/paint.ts'
import { tableLines } from '../terminal/table.ts'
import { changeBps, duration, percent, price } from '../terminal/words.ts'
import type { Asset, Changes } from './changes.ts'

export type WatchedChain = {
  readonly chainId: number
  readonly name: string
  readonly follower: Follower
  /** Used before the stream has delivered any. */
  readonly firstHealth: Health | null
  readonly names: ReadonlyMap<string, string>
}

export const ORDERS = ['symbol', 'change', 'score', 'age'] as const
export type Order = (typeof ORDERS)[number]

type Row = Asset & {
  readonly symbol: string
  readonly price: string
  readonly changeBps: number | null
  readonly score: number | null
  readonly label: string
  readonly ageMs: number | null
  readonly health: string
}

export class Board {
  readonly #chains: readonly WatchedChain[]
  readonly #changes: Changes

  constructor(chains: readonly WatchedChain[], changes: Changes) {
    this.#chains = chains
    this.#changes = changes
  }

  get chainLines(): string[] {
    const now = Date.now()
    return tableLines(
      [
        { title: 'Chain' },
        { title: 'Health' },
        { title: 'Block', align: 'right' },
        { title: 'Age', align: 'right' },
        { title: 'Stream' },
      ],
      this.#chains.map(chain => {
        const health = healthOf(chain)
        const processed = health?.processed ?? null
        return [
          `${chain.name} (${chain.chainId})`,
          health === null
            ? paint('dim', 'unknown')
            : [paintStatus(health.status), ...health.reasons].join(' '),
          processed === null ? '–' : String(processed.block_number),
          processed === null ? '–' : duration(now - processed.block_time_ms),
          paintStream(chain.follower.status),
        ]
      }),
    )
  }

  /** The heading, then one line per token. */
  tokenLines(
    order: Order,
    from: number,
    count: number,
  ): { readonly lines: string[]; readonly total: number } {
    const rows = this.#chains.flatMap(chain => this.#rowsOf(chain)).sort(COMPARE[order])
    const shown = rows.slice(from, from + count)
    this.#changes.want(shown)
    return {
      total: rows.length,
      lines: tableLines(
        [
          { title: 'Chain', align: 'right' },
          { title: 'Token' },
          { title: 'Price', align: 'right' },
          { title: '1 h', align: 'right' },
          { title: 'Score', align: 'right' },
          { title: '' },
          { title: 'Age', align: 'right' },
          { title: 'Health' },
        ],
        shown.map(row => [
          String(row.chainId),
          row.symbol,
          row.price,
          row.changeBps === null ? '–' : paintChange(row.changeBps, percent(row.changeBps)),
          row.score === null ? '–' : paintScore(row.score, String(row.score)),
          row.label,
          row.ageMs === null ? '–' : duration(row.ageMs),
          row.health,
        ]),
      ),
    }
  }

  #rowsOf(chain: WatchedChain): Row[] {
    const now = Date.now()
    const health = healthOf(chain)
    return [...chain.follower.tokens(now)].map(({ token_id, price: state }) => {
      const address: `0x${string}` = `0x${token_id.slice(-40)}`
      const head = {
        chainId: chain.chainId,
        address,
        symbol: chain.names.get(token_id) ?? address,
        health: health === null ? paint('dim', 'unknown') : paintStatus(health.status),
        ageMs: state === null ? null : now - state.as_of.block_time_ms,
      }
      if (state?.state !== 'PRICED')
        return {
          ...head,
          price: '–',
          changeBps: null,
          score: null,
          label: paint('dim', state === null ? 'pending' : state.reason),
        }
      const before = this.#changes.before(head)
      const { score, label } = state.confidence
      return {
        ...head,
        price: price(state.price_usd),
        changeBps: before === null ? null : changeBps(before, state.price_usd),
        score,
        label: paint('dim', label),
      }
    })
  }
}

const healthOf = ({ follower, firstHealth }: WatchedChain): Health | null => follower.health ?? firstHealth

const paintStream = (status: FollowStatus): string =>
  status === 'live' ? paint('green', status) : paint('yellow', status)

const bySymbol = (a: Row, b: Row): number => a.chainId - b.chainId || (a.symbol < b.symbol ? -1 : 1)

const COMPARE: Readonly<Record<Order, (a: Row, b: Row) => number>> = {
  symbol: bySymbol,
  change: (a, b) => sizeOf(b.changeBps) - sizeOf(a.changeBps) || bySymbol(a, b),
  score: (a, b) => (b.score ?? -1) - (a.score ?? -1) || bySymbol(a, b),
  age: (a, b) => (a.ageMs ?? Number.MAX_VALUE) - (b.ageMs ?? Number.MAX_VALUE) || bySymbol(a, b),
}

/** Unknown values come last. */
const sizeOf = (bps: number | null): number => (bps === null ? -1 : Math.abs(bps))
