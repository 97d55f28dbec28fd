/** `assay history`: the published history of a token, as records or as candles; retractions are named. */
import type { CandlePage, Client, HistoryPage } from '@assay/sdk'
import { Command, Option } from 'commander'
import { EXIT } from '../exit.ts'
import { addressOrSymbol, namedToken } from '../namedToken.ts'
import { clientOf, moment, type ServiceChoice, whole, withService } from '../options.ts'
import { paint, paintScore } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { table } from '../terminal/table.ts'
import { price, time } from '../terminal/words.ts'

type Entry = HistoryPage['prices'][number]
type Candle = CandlePage['candles'][number]
type Interval = '1m' | '5m' | '1h' | '1d'
type Options = ServiceChoice & {
  readonly from?: number
  readonly to?: number
  readonly at?: number
  readonly atBlock?: number
  readonly atSequence?: number
  readonly interval?: Interval
  readonly withdrawn?: boolean
  readonly limit: number
}
type Query = Parameters<Client['fetchHistory']>[0]

/** The most the API returns at once. */
const PAGE = 1000

/** Parameters that cannot be combined with a moment. */
const RANGE = ['from', 'to', 'interval']

export const historyCommand = (): Command =>
  withService(new Command('history'))
    .description('show what was published about a token; exit code 3 if nothing was')
    .argument('<chain>', 'chain id', whole)
    .argument('<token>', 'token address, or its symbol', addressOrSymbol)
    .option('--from <time>', '15m, 2h, 7d ago, or a date; by default 24 hours ago', moment)
    .option('--to <time>', 'by default now', moment)
    .addOption(new Option('--at <time>', 'only the state in force then').argParser(moment).conflicts(RANGE))
    .addOption(
      new Option('--at-block <number>', 'only the state in force at this block')
        .argParser(whole)
        .conflicts([...RANGE, 'at']),
    )
    .addOption(
      new Option('--at-sequence <number>', 'only the state in force at this record')
        .argParser(whole)
        .conflicts([...RANGE, 'at', 'atBlock']),
    )
    .addOption(new Option('--interval <length>', 'as candles').choices(['1m', '5m', '1h', '1d']))
    .addOption(
      new Option('--withdrawn', 'include prices that a reorganisation withdrew').conflicts([
        'interval',
        'at',
        'atBlock',
        'atSequence',
      ]),
    )
    .option('--limit <rows>', 'the maximum number to print, oldest first', whole, 100)
    .action(printHistory)

async function printHistory(chain: number, token: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const query: Query = {
    chain_id: chain,
    token_address: await namedToken(client, chain, token),
    ...(options.from === undefined ? {} : { from_ms: options.from }),
    ...(options.to === undefined ? {} : { to_ms: options.to }),
    ...(options.at === undefined ? {} : { at_ms: options.at }),
    ...(options.atBlock === undefined ? {} : { at_block: options.atBlock }),
    ...(options.atSequence === undefined ? {} : { at_sequence: options.atSequence }),
    ...(options.withdrawn === true ? { include: 'withdrawn' as const } : {}),
  }
  const { interval } = options
  if (interval === undefined) {
    const { rows: prices, next } = await pages(options, async page => {
      const { prices: rows, next_cursor } = await client.fetchHistory({ ...query, ...page })
      return { rows, next: next_cursor }
    })
    answer(options, prices, { prices, next_cursor: next }, priceTable)
    return
  }
  const { rows: candles, next } = await pages(options, async page => {
    const { candles: rows, next_cursor } = await client.fetchCandles({ ...query, ...page, interval })
    return { rows, next: next_cursor }
  })
  answer(options, candles, { candles, next_cursor: next }, candleTable)
}

type Page<Row> = { readonly rows: readonly Row[]; readonly next: string | null }

/** Fetches as many pages as the limit requires. */
async function pages<Row>(
  { limit, ...options }: Options,
  fetchPage: (page: { limit?: number; cursor?: string }) => Promise<Page<Row>>,
): Promise<Page<Row>> {
  const isMoment = [options.at, options.atBlock, options.atSequence].some(each => each !== undefined)
  const rows: Row[] = []
  let next: string | null = null
  do {
    const page: Page<Row> = await fetchPage({
      // A moment has one answer, and the API accepts no limit for it.
      ...(isMoment ? {} : { limit: Math.min(PAGE, limit - rows.length) }),
      ...(next === null ? {} : { cursor: next }),
    })
    rows.push(...page.rows)
    next = page.next
  } while (next !== null && rows.length < limit)
  return { rows, next }
}

function answer<Row>(
  options: Options,
  rows: readonly Row[],
  value: { readonly next_cursor: string | null; readonly [rows: string]: unknown },
  tableOf: (rows: readonly Row[]) => string,
): void {
  if (rows.length === 0) process.exitCode = EXIT.absent
  print(options, value, () =>
    rows.length === 0
      ? 'nothing was published in that period'
      : `${tableOf(rows)}${value.next_cursor === null ? '' : `\n… there is more: raise --limit, or begin later with --from`}`,
  )
}

const priceTable = (prices: readonly Entry[]): string =>
  table(
    [
      { title: 'Time (UTC)' },
      { title: 'Price', align: 'right' },
      { title: 'Score', align: 'right' },
      { title: 'Block', align: 'right' },
      { title: 'Sequence', align: 'right' },
      { title: 'Remark' },
    ],
    prices.map(entry => [
      time(entry.evaluated_at_ms),
      entry.state === 'PRICED' ? price(entry.price_usd) : '–',
      entry.state === 'PRICED' ? paintScore(entry.confidence.score, String(entry.confidence.score)) : '–',
      String(entry.as_of.block_number),
      String(entry.as_of.stream_sequence),
      remarkOf(entry),
    ]),
  )

function remarkOf(entry: Entry): string {
  const parts = entry.state === 'UNPRICED' ? [`unpriced: ${entry.reason}`] : []
  if (entry.retracts !== undefined)
    parts.push(
      `withdrew ${entry.retracts.stream_sequence ?? entry.retracts.record_id}: ${entry.retracts.reason}`,
    )
  if (entry.withdrawn !== undefined)
    parts.push(`withdrawn by ${entry.withdrawn.stream_sequence}: ${entry.withdrawn.reason}`)
  return parts.length === 0 ? '' : paint('yellow', parts.join('; '))
}

const candleTable = (candles: readonly Candle[]): string =>
  table(
    [
      { title: 'From (UTC)' },
      ...['Open', 'High', 'Low', 'Close', 'Records'].map(title => ({ title, align: 'right' as const })),
    ],
    candles.map(({ from_ms, open, high, low, close, records }) => [
      time(from_ms),
      ...[open, high, low, close].map(each => price(each)),
      String(records),
    ]),
  )
