/**
 * `assay watch`: the prices of some chains, or of all, as they change: a live table on a terminal, and a line for
 * each change elsewhere. A dropped connection resumes automatically.
 */
import type { Client, Envelope, FollowEvent, TokenList } from '@assay/sdk'
import { Command } from 'commander'
import { EXIT, Failure } from '../exit.ts'
import { Board, ORDERS, type WatchedChain } from '../live/board.ts'
import { Changes } from '../live/changes.ts'
import { openScreen } from '../live/screen.ts'
import { clientOf, type ServiceChoice, whole, withService } from '../options.ts'
import { harmless } from '../terminal/harmless.ts'
import { paint, paintScore } from '../terminal/paint.ts'
import { clockTime, price } from '../terminal/words.ts'

export const watchCommand = (): Command =>
  withService(new Command('watch'))
    .description('show prices as they change: a live table on a terminal, otherwise one line per change')
    .argument('[chains...]', 'chain ids; by default all', chainIds)
    .action(watch)

const chainIds = (text: string, before: number[] | undefined): number[] => [...(before ?? []), whole(text)]

async function watch(chains: readonly number[], options: ServiceChoice): Promise<void> {
  const client = clientOf(options)
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const watched = await openChains(client, chains, stopping.signal)
  const isTable = options.json !== true && process.stdout.isTTY
  const screen = isTable ? openBoard(options.url, new Board(watched, new Changes(client)), stop) : null
  const print = options.json === true ? printJson : isTable ? () => undefined : printLine
  try {
    await Promise.all(
      watched.map(async chain => {
        for await (const event of chain.follower) print(chain, event)
      }),
    )
  } finally {
    stop()
    screen?.close()
  }
}

async function openChains(
  client: Client,
  wanted: readonly number[],
  signal: AbortSignal,
): Promise<readonly WatchedChain[]> {
  const { chains } = await client.fetchChains({ signal })
  for (const id of wanted)
    if (!chains.some(({ chain_id }) => chain_id === id))
      throw new Failure(
        `chain ${id} is not served; served are ${chains.map(({ chain_id }) => chain_id).join(', ')}`,
        EXIT.absent,
      )
  const chosen = chains.filter(({ chain_id }) => wanted.length === 0 || wanted.includes(chain_id))
  return Promise.all(
    chosen.map(async ({ chain_id, name, health }) => ({
      chainId: chain_id,
      name,
      firstHealth: health,
      names: await namesOf(client, chain_id, signal),
      follower: client.follow({ chain_id, signal }),
    })),
  )
}

async function namesOf(
  client: Client,
  chainId: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  let cursor: string | null = null
  do {
    const page: TokenList = await client.fetchTokens(
      { chain_id: chainId, limit: 1000, ...(cursor === null ? {} : { cursor }) },
      { signal },
    )
    for (const token of page.tokens) names.set(token.token_id, token.symbol ?? token.token_address)
    cursor = page.next_cursor
  } while (cursor !== null)
  return names
}

const UP = '\u001B[A'
const DOWN = '\u001B[B'
const CTRL_C = '\u0003'

function openBoard(url: string, board: Board, quit: () => void) {
  let from = 0
  let order = 0
  let page = 1
  return openScreen(
    (rows, columns) => {
      const chainLines = board.chainLines(columns)
      // Lines for the title, a blank line on both sides of the chains, the heading of the tokens, and the footer.
      page = Math.max(1, rows - chainLines.length - 5)
      const sort = ORDERS[order] ?? 'symbol'
      const { lines, total } = board.tokenLines(sort, from, page, columns)
      if (from >= total) from = Math.max(0, total - page)
      const position =
        total === 0 ? 'no tokens yet' : `${from + 1}–${Math.min(total, from + page)} of ${total}`
      const [wide, narrow] = [
        `↑ ↓ scroll   s sort: ${sort}   q quit   ${position}`,
        `↑↓  s: ${sort}  q: quit  ${position}`,
      ]
      return [
        `${paint('bold', 'Assay')}  ${clockTime(Date.now())} UTC  ${url}`,
        '',
        ...chainLines,
        '',
        ...lines,
        paint('dim', wide.length <= columns ? wide : narrow),
      ]
    },
    key => {
      if (key === 'q' || key === CTRL_C) quit()
      else if (key === 's') order = (order + 1) % ORDERS.length
      else if (key === DOWN || key === 'j') from += 1
      else if (key === UP || key === 'k') from = Math.max(0, from - 1)
      else if (key === ' ') from += page
      else if (key === 'b') from = Math.max(0, from - page)
    },
  )
}

const printJson = ({ chainId }: WatchedChain, event: FollowEvent): void =>
  console.log(JSON.stringify({ chain_id: chainId, ...event }))

function printLine(chain: WatchedChain, event: FollowEvent): void {
  const head = `${clockTime(Date.now())}  ${String(chain.chainId).padStart(5)}`
  if (event.kind === 'status')
    console.log(harmless(`${head}  ${event.status}${event.reason === null ? '' : `: ${event.reason}`}`))
  else {
    const words = wordsOf(event.record, chain.names)
    if (words !== null) console.log(harmless(`${head}  ${words}`))
  }
}

function wordsOf({ type, payload }: Envelope, names: ReadonlyMap<string, string>): string | null {
  if (type === 'FEED_HEALTH') return `health ${payload.status} ${payload.reasons.join(' ')}`.trimEnd()
  if ((type !== 'PRICE_UPSERT' && type !== 'PRICE_RETRACT') || payload.scope !== 'token') return null
  const name = (names.get(payload.token_id) ?? payload.token_id).padEnd(8)
  if (type === 'PRICE_RETRACT') return `${name}  ${paint('red', 'retracted')}: ${payload.reason}`
  if (payload.state !== 'PRICED') return `${name}  unpriced: ${payload.reason}`
  const { score } = payload.confidence
  return `${name}  ${price(payload.price_usd, 12).padStart(18)}  ${paintScore(score, `score ${score}`)}`
}
