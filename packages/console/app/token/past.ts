/** The published states of a token in a range: points of a line, candles when the range is long, and retractions. */
import type { Client, HistoryEntry } from '@assay/sdk'
import { changeBps } from '../format.ts'
import type { Candle, Mark, Point } from '../parts/chartData.ts'
import type { Row } from '../row.ts'

const MINUTE = 60_000
export const RANGES = [
  { name: '15 min', ms: 15 * MINUTE, interval: null },
  { name: '1 h', ms: 60 * MINUTE, interval: null },
  { name: '24 h', ms: 1440 * MINUTE, interval: '5m', stepMs: 5 * MINUTE },
  { name: '7 d', ms: 10_080 * MINUTE, interval: '1h', stepMs: 60 * MINUTE },
] as const
export type Range = (typeof RANGES)[number]

export type Past = {
  readonly points: readonly Point[]
  readonly candles: readonly Candle[]
  readonly marks: readonly Mark[]
}

const PAGE = 1000
/** The most pages of published records: more would exceed the pixels. */
const MAX_PAGES = 4

type State = HistoryEntry | NonNullable<Row['price']>

export const pointOf = (state: State, atMs: number = state.evaluated_at_ms): Point => ({
  atMs,
  price: state.state === 'PRICED' ? Number(state.price_usd.display) : null,
  score: state.state === 'PRICED' ? state.confidence.score : null,
  block: state.as_of.block_number,
})

/** A retraction; `before` is the retracted state, if known. */
export function markOf(reason: string, before: State | null, now: State): Mark {
  const withdrawn = before?.state === 'PRICED' ? before : null
  return {
    atMs: now.evaluated_at_ms,
    reason,
    block: now.as_of.block_number,
    withdrawn: withdrawn === null ? null : { price: withdrawn.price_usd, score: withdrawn.confidence.score },
    now: now.state === 'PRICED' ? now.price_usd : null,
    bps: withdrawn === null || now.state !== 'PRICED' ? null : changeBps(withdrawn.price_usd, now.price_usd),
  }
}

export async function fetchPast(client: Client, row: Row, range: Range, signal: AbortSignal): Promise<Past> {
  const { chain_id, token_address } = row.token
  const from_ms = Date.now() - range.ms
  if (range.interval !== null) {
    const { candles } = await client.fetchCandles(
      { chain_id, token_address, from_ms, interval: range.interval, limit: PAGE },
      { signal },
    )
    return {
      points: [],
      marks: [],
      candles: candles.map(({ from_ms: fromMs, to_ms: toMs, open, high, low, close, records }) => ({
        fromMs,
        toMs,
        open: Number(open.display),
        high: Number(high.display),
        low: Number(low.display),
        close: Number(close.display),
        records,
      })),
    }
  }
  // The state in force at the start of the range was published before it.
  const before = await client.fetchHistory({ chain_id, token_address, at_ms: from_ms }, { signal })
  const prices: HistoryEntry[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await client.fetchHistory(
      {
        chain_id,
        token_address,
        from_ms,
        // A mark says what was withdrawn.
        include: 'withdrawn',
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      },
      { signal },
    )
    prices.push(...answer.prices)
    if (answer.next_cursor === null) break
    cursor = answer.next_cursor
  }
  const bySequence = new Map([...before.prices, ...prices].map(state => [state.as_of.stream_sequence, state]))
  return {
    candles: [],
    points: [...before.prices.map(state => pointOf(state, from_ms)), ...prices.map(state => pointOf(state))],
    marks: prices.flatMap(state =>
      state.retracts === undefined
        ? []
        : [
            markOf(
              state.retracts.reason,
              bySequence.get(state.retracts.stream_sequence ?? -1) ?? null,
              state,
            ),
          ],
    ),
  }
}

/** Candles extended by the records received since they were fetched. */
export function withPoints(
  candles: readonly Candle[],
  points: readonly Point[],
  stepMs: number,
): readonly Candle[] {
  const result = [...candles]
  for (const { atMs, price } of points) {
    if (price === null) continue
    const fromMs = Math.floor(atMs / stepMs) * stepMs
    const last = result.at(-1)
    if (last?.fromMs === fromMs)
      result[result.length - 1] = {
        ...last,
        high: Math.max(last.high, price),
        low: Math.min(last.low, price),
        close: price,
        records: last.records + 1,
      }
    else if (last === undefined || fromMs > last.fromMs)
      result.push({
        fromMs,
        toMs: fromMs + stepMs,
        open: price,
        high: price,
        low: price,
        close: price,
        records: 1,
      })
  }
  return result
}
