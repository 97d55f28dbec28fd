/** The table of `assay watch`: chains with their health, and every token with price, change, score and age. */
import type { Follower, FollowStatus, Health } from '@assay/sdk'
import { beginning, foldedLines, type FoldingColumn } from '../terminal/folding.ts'
import { paint, paintChange, paintScore, paintStatus } from '../terminal/paint.ts'
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
  readonly price: string | null
  readonly changeBps: number | null
  readonly score: number | null
  /** The label of the score, or why there is no price. */
  readonly label: string
  readonly ageMs: number | null
  /** Null before the first. */
  readonly health: string | null
}

export class Board {
  readonly #chains: readonly WatchedChain[]
  readonly #changes: Changes

  constructor(chains: readonly WatchedChain[], changes: Changes) {
    this.#chains = chains
    this.#changes = changes
  }

  chainLines(width: number): string[] {
    return foldedLines(CHAIN_COLUMNS, this.#chains, width)
  }

  /** The heading, then one line per token. */
  tokenLines(
    order: Order,
    from: number,
    count: number,
    width: number,
  ): { readonly lines: string[]; readonly total: number } {
    const rows = this.#chains.flatMap(chain => this.#rowsOf(chain)).sort(COMPARE[order])
    const shown = rows.slice(from, from + count)
    this.#changes.want(shown)
    return { total: rows.length, lines: foldedLines(TOKEN_COLUMNS, shown, width) }
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
        health: health?.status ?? null,
        ageMs: state === null ? null : now - state.as_of.block_time_ms,
      }
      if (state?.state !== 'PRICED')
        return {
          ...head,
          price: null,
          changeBps: null,
          score: null,
          label: state === null ? 'pending' : state.reason,
        }
      const before = this.#changes.before(head)
      const { score, label } = state.confidence
      return {
        ...head,
        price: price(state.price_usd),
        changeBps: before === null ? null : changeBps(before, state.price_usd),
        score,
        label,
      }
    })
  }
}

const healthOf = ({ follower, firstHealth }: WatchedChain): Health | null => follower.health ?? firstHealth

const healthText = (chain: WatchedChain): string => {
  const health = healthOf(chain)
  return health === null ? UNKNOWN : [health.status.toLowerCase(), ...health.reasons].join(' ')
}
const UNKNOWN = 'unknown'

/** Colours the status of the feed, and leaves the reasons behind it as they are. */
function paintHealth(status: string | null, text: string): string {
  if (status === null) return paint('dim', text)
  const word = text.slice(0, status.length)
  return paintStatus(status, word) + text.slice(word.length)
}

const paintStream = (status: FollowStatus, text: string): string =>
  paint(status === 'live' ? 'green' : 'yellow', text)

/** The chain's id stays, whatever is cut of its name. */
function cutName(text: string, width: number): string {
  const id = /\(\d+\)$/.exec(text)?.[0] ?? ''
  return `${beginning(text.slice(0, -id.length).trimEnd(), width - id.length - 1)} ${id}`
}

const CHAIN_COLUMNS: readonly FoldingColumn<WatchedChain>[] = [
  {
    key: 'chain',
    title: 'Chain',
    text: ({ name, chainId }) => `${name} (${chainId})`,
    least: 14,
    cut: cutName,
  },
  {
    key: 'health',
    title: 'Health',
    // A feed that is not being followed is not known to be healthy.
    text: (chain, isShown) => {
      const { status } = chain.follower
      return isShown('stream') || status === 'live' ? healthText(chain) : status
    },
    paint: (chain, text, isShown) => {
      const { status } = chain.follower
      if (!isShown('stream') && status !== 'live') return paintStream(status, text)
      return paintHealth(healthOf(chain)?.status ?? null, text)
    },
    least: 12,
  },
  {
    key: 'block',
    title: 'Block',
    align: 'right',
    text: chain => `${healthOf(chain)?.processed?.block_number ?? '–'}`,
    rank: 2,
  },
  {
    key: 'age',
    title: 'Age',
    align: 'right',
    text: chain => {
      const timeMs = healthOf(chain)?.processed?.block_time_ms
      return timeMs === undefined ? '–' : duration(Date.now() - timeMs)
    },
  },
  {
    key: 'stream',
    title: 'Stream',
    text: ({ follower }) => follower.status,
    paint: ({ follower }, text) => paintStream(follower.status, text),
    rank: 1,
  },
]

const TOKEN_COLUMNS: readonly FoldingColumn<Row>[] = [
  { key: 'chain', title: 'Chain', align: 'right', text: ({ chainId }) => String(chainId) },
  { key: 'token', title: 'Token', text: ({ symbol }) => symbol, least: 8 },
  {
    key: 'price',
    title: 'Price',
    align: 'right',
    // Why there is none has no column of its own on a narrow terminal.
    text: (row, isShown) => row.price ?? (isShown('label') ? '–' : row.label),
    paint: (row, text, isShown) => (row.price === null && !isShown('label') ? paint('dim', text) : text),
  },
  {
    key: 'change',
    title: '1 h',
    align: 'right',
    text: ({ changeBps: bps }) => (bps === null ? '–' : percent(bps)),
    paint: ({ changeBps: bps }, text) => (bps === null ? text : paintChange(bps, text)),
    rank: 4,
  },
  {
    key: 'score',
    title: 'Score',
    align: 'right',
    text: ({ score }) => (score === null ? '–' : String(score)),
    paint: ({ score }, text) => (score === null ? text : paintScore(score, text)),
  },
  {
    key: 'label',
    title: '',
    text: ({ label }) => label,
    paint: (_, text) => paint('dim', text),
    rank: 3,
  },
  {
    key: 'age',
    title: 'Age',
    align: 'right',
    text: ({ ageMs }) => (ageMs === null ? '–' : duration(ageMs)),
    rank: 2,
  },
  {
    key: 'health',
    title: 'Health',
    text: ({ health }) => health?.toLowerCase() ?? UNKNOWN,
    paint: ({ health }, text) => paintHealth(health, text),
    // The chains have it too.
    rank: 1,
  },
]

const bySymbol = (a: Row, b: Row): number => a.chainId - b.chainId || (a.symbol < b.symbol ? -1 : 1)

const COMPARE: Readonly<Record<Order, (a: Row, b: Row) => number>> = {
  symbol: bySymbol,
  change: (a, b) => sizeOf(b.changeBps) - sizeOf(a.changeBps) || bySymbol(a, b),
  score: (a, b) => (b.score ?? -1) - (a.score ?? -1) || bySymbol(a, b),
  age: (a, b) => (a.ageMs ?? Number.MAX_VALUE) - (b.ageMs ?? Number.MAX_VALUE) || bySymbol(a, b),
}

/** Unknown values come last. */
const sizeOf = (bps: number | null): number => (bps === null ? -1 : Math.abs(bps))
