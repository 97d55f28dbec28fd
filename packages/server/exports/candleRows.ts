/**
 * Candles of the log as rows: of every token, whole buckets only, each once, in order of time. The log is read twice:
 * first to find withdrawn prices and how late a record may arrive after another; then each bucket is written as soon as
 * no further record can belong to it. Memory holds only the open buckets, never the log.
 */
import { exact } from '@assay/sdk'
import { type Envelope, fromId } from '@assay/sdk/wire'
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'
import { add, begin, type Bucket, startOf } from './candles.ts'
import { pagesOf } from './range.ts'
import type { Cell, Column, Row } from './table.ts'
import { Withdrawals } from './withdrawals.ts'

export type CandleRange = {
  readonly after: Sequence
  readonly through: Sequence
  readonly chainId: number | null
  readonly intervalMs: number
  /** Buckets that begin at or after this time, and end by `untilMs`; both are whole multiples of the interval. */
  readonly fromMs: number
  readonly untilMs: number
}

const EDGES = ['open', 'high', 'low', 'close'] as const
const FORMS = ['numerator', 'denominator', 'display'] as const

export const CANDLE_COLUMNS: readonly Column[] = [
  ...['chain_id', 'from_ms', 'to_ms'].map(name => ({ name, isInteger: true })),
  { name: 'token_address', isInteger: false },
  ...EDGES.flatMap(edge => FORMS.map(form => ({ name: `${edge}_${form}`, isInteger: false }))),
  ...['records', 'withdrawn', 'first_sequence', 'last_sequence'].map(name => ({ name, isInteger: true })),
]

type Said = { readonly [field: string]: unknown }
type Spoken = LogRecord & { readonly payload: Said }
type PriceText = { readonly numerator: string; readonly denominator: string }
type Priced = { readonly token: string; readonly atMs: number; readonly price: PriceText }

/** A token's open interval. `bucket` is null when all its prices were withdrawn. */
type Open = { bucket: Bucket | null; withdrawn: number; first: Sequence; last: Sequence }

/** The rows of each page, which may be none. */
export async function* candleRows(
  store: Pick<LogStore, 'readLog'>,
  range: CandleRange,
): AsyncGenerator<Row[]> {
  const { withdrawals, lateMs } = await lookAhead(store, range)
  const chains = new Map<number, OpenBuckets>()
  for await (const page of pagesOf(store, range)) {
    const rows: Row[] = []
    for (const record of spoken(page, range)) {
      const said = pricedIn(record)
      if (said === null) continue
      const { chainId } = record
      const open = chains.get(chainId) ?? new OpenBuckets(chainId, range)
      chains.set(chainId, open)
      open.take(said, record.sequence, withdrawals.has(record.sequence))
      rows.push(...open.ended(said.atMs - lateMs))
    }
    yield rows
  }
  const last: Row[] = []
  for (const open of chains.values()) last.push(...open.ended(Number.POSITIVE_INFINITY))
  yield last
}

/** The prices withdrawn by the end of the range, and the largest delay of a price's time behind an earlier one. */
async function lookAhead(
  store: Pick<LogStore, 'readLog'>,
  range: CandleRange,
): Promise<{ readonly withdrawals: Withdrawals; readonly lateMs: number }> {
  const withdrawals = new Withdrawals()
  const newest = new Map<number, number>()
  let lateMs = 0
  for await (const page of pagesOf(store, range))
    for (const record of spoken(page, range)) {
      withdrawals.take(record)
      const said = pricedIn(record)
      if (said === null) continue
      const newestMs = Math.max(newest.get(record.chainId) ?? 0, said.atMs)
      newest.set(record.chainId, newestMs)
      lateMs = Math.max(lateMs, newestMs - said.atMs)
    }
  return { withdrawals, lateMs }
}

/** Most swaps contain neither prices nor reorganisations, and are skipped. */
function* spoken(page: readonly LogRecord[], { chainId }: CandleRange): Generator<Spoken> {
  for (const record of page) {
    if (chainId !== null && record.chainId !== chainId) continue
    if (record.type === 'SWAP_OBSERVED' && !record.envelope.includes('"orphaned"')) continue
    yield { ...record, payload: (JSON.parse(record.envelope) as Envelope).payload }
  }
}

function pricedIn({ type, payload }: Spoken): Priced | null {
  if (payload['scope'] !== 'token') return null
  const state = (type === 'PRICE_RETRACT' ? payload['current'] : payload) as Said
  const price = state['price_usd'] as PriceText | undefined
  if (price === undefined) return null
  return { token: fromId(payload['token_id'] as string), atMs: state['evaluated_at_ms'] as number, price }
}

/** Open buckets of one chain, by their start and then by token. */
class OpenBuckets {
  readonly #chainId: number
  readonly #range: CandleRange
  readonly #open = new Map<number, Map<string, Open>>()
  /** No search is needed before the first of them can end. */
  #nextEndMs = Number.POSITIVE_INFINITY

  constructor(chainId: number, range: CandleRange) {
    this.#chainId = chainId
    this.#range = range
  }

  take({ token, atMs, price }: Priced, sequence: Sequence, isWithdrawn: boolean): void {
    const { intervalMs, fromMs: least, untilMs } = this.#range
    const fromMs = startOf(atMs, intervalMs)
    if (fromMs < least || fromMs + intervalMs > untilMs) return
    const tokens = this.#open.get(fromMs) ?? new Map<string, Open>()
    this.#open.set(fromMs, tokens)
    this.#nextEndMs = Math.min(this.#nextEndMs, fromMs + intervalMs)
    const open = tokens.get(token) ?? { bucket: null, withdrawn: 0, first: sequence, last: sequence }
    tokens.set(token, open)
    if (isWithdrawn) {
      open.withdrawn += 1
      return
    }
    const value = exact.from(price)
    if (open.bucket === null) {
      open.bucket = begin(fromMs, value)
      open.first = sequence
    } else add(open.bucket, value)
    open.last = sequence
  }

  /** The buckets that no further record can belong to. */
  ended(nowMs: number): Row[] {
    if (nowMs < this.#nextEndMs) return []
    const { intervalMs } = this.#range
    const rows: Row[] = []
    const begun = [...this.#open.keys()].sort((a, b) => a - b)
    for (const fromMs of begun.filter(each => each + intervalMs <= nowMs)) {
      const tokens = [...(this.#open.get(fromMs) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
      for (const [token, open] of tokens)
        if (open.bucket !== null) rows.push(this.#rowOf(token, open, open.bucket))
      this.#open.delete(fromMs)
    }
    const next = begun.find(each => each + intervalMs > nowMs)
    this.#nextEndMs = next === undefined ? Number.POSITIVE_INFINITY : next + intervalMs
    return rows
  }

  #rowOf(token: string, { withdrawn, first, last }: Open, bucket: Bucket): Row {
    const prices = EDGES.flatMap((edge): Cell[] => {
      const { num, den } = bucket[edge]
      return [num.toString(), den.toString(), exact.format(bucket[edge])]
    })
    const { fromMs, records } = bucket
    const times = [this.#chainId, fromMs, fromMs + this.#range.intervalMs]
    return [...times, token, ...prices, records, withdrawn, first, last]
  }
}
