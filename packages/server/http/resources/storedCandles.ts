/**
 * Candles of a token from the stored ones. A bucket that something newer reaches, a later price or a withdrawal, is
 * computed from the prices themselves, so the answer is the one that all prices would give.
 */
import { exact } from '@assay/sdk'
import { candleOfPoints, pointsIn, valueOf } from '../../store/candleBuild.ts'
import type { CandleRow, CandleStore } from '../../store/candles.ts'
import { startOf } from '../../exports/candles.ts'
import type { HistoryStore } from '../../store/history.ts'
import type { LogStore } from '../../store/port.ts'
import type { WithdrawalStore } from '../../store/withdrawals.ts'

/** With more records than this still to be built, the prices are read instead. */
const MOST_BEHIND = 200_000
/** The prices of the token among them. */
const MOST_TAIL = 10_000

type CandleReader = CandleStore &
  WithdrawalStore &
  Pick<HistoryStore, 'readTokenPoints' | 'readTokenAt'> &
  Pick<LogStore, 'readBounds'>

export type CandlesWanted = {
  readonly chainId: number
  readonly tokenAddress: string
  readonly intervalMs: number
  /** Both whole multiples of the interval. */
  readonly fromMs: number
  readonly toMs: number
  readonly limit: number
}

/** `nextMs` is where the next page begins, null at the end. Null altogether while the candles are far behind. */
export async function storedCandles(
  store: CandleReader,
  { fromMs, toMs, limit, ...series }: CandlesWanted,
): Promise<{ readonly candles: readonly CandleRow[]; readonly nextMs: number | null } | null> {
  const { chainId, tokenAddress, intervalMs } = series
  // In this order: what comes in between is in the last two reads, and so computed.
  const at = await store.readCandlesAt()
  if ((await store.readBounds()).head - at > MOST_BEHIND) return null
  const rows = await store.readCandles(series, { fromMs, toMs, limit: limit + 1 })
  const withdrawals = await store.readWithdrawals(chainId, { after: at, upToBlock: Number.MAX_SAFE_INTEGER })
  const tail = await store.readTokenTail(chainId, tokenAddress, at, MOST_TAIL)
  if (tail.length >= MOST_TAIL) return null

  const isWithdrawn = ({ topBlock }: CandleRow) => withdrawals.some(each => each.blockNumber <= topBlock)
  const stored = new Map(rows.filter(row => !isWithdrawn(row)).map(row => [row.fromMs, row]))
  // A further page begins behind the last row that was read.
  const last = rows.length > limit ? rows.at(-1) : undefined
  const endMs = last === undefined ? toMs : last.fromMs + intervalMs
  const starts = new Set(rows.map(row => row.fromMs))
  for (const { atMs } of tail) {
    const start = startOf(atMs, intervalMs)
    if (start < fromMs || start >= endMs) continue
    starts.add(start)
    stored.delete(start)
  }

  const candles: CandleRow[] = []
  for (const start of [...starts].toSorted((a, b) => a - b)) {
    const row =
      stored.get(start) ?? candleOfPoints(await pointsIn(store, series, start, start + intervalMs), start)
    if (row === null) continue
    if (candles.length >= limit) return { candles, nextMs: start }
    candles.push(row)
  }
  return { candles, nextMs: last === undefined ? null : endMs }
}

export function candleText(
  { fromMs, open, high, low, close, records }: CandleRow,
  intervalMs: number,
): object {
  return {
    from_ms: fromMs,
    to_ms: fromMs + intervalMs,
    open: textOf(open),
    high: textOf(high),
    low: textOf(low),
    close: textOf(close),
    records,
  }
}

function textOf(price: string): object {
  const value = valueOf(price)
  return { numerator: value.num.toString(), denominator: value.den.toString(), display: exact.format(value) }
}
