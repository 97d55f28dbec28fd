/** Candles of our own published prices for charts: a number of the newest before a moment, without empty ones. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { exact } from '@assay/sdk'
import { startOf } from '../../exports/candles.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { pointsOf } from './pastPrices.ts'
import type { Token } from './prices.ts'

type Needs = Pick<HttpContext, 'clock' | 'config' | 'store'>

type Exact = exact.Exact
export type Candle = {
  readonly fromMs: number
  readonly open: Exact
  readonly high: Exact
  readonly low: Exact
  readonly close: Exact
}

/** The window of one read, going backwards. */
const WINDOW_MS = 86_400_000
/** An answer ends with the window in which this many records were read. */
const MOST_POINTS = 50_000

/** Oldest first; buckets begin before `beforeMs`, but not before `sinceMs`. */
export async function candlesBack(
  context: Needs,
  token: Token,
  {
    intervalMs,
    beforeMs,
    sinceMs = 0,
    limit,
  }: {
    readonly intervalMs: number
    readonly beforeMs: number
    readonly sinceMs?: number
    readonly limit: number
  },
): Promise<readonly Candle[]> {
  const windowMs = Math.max(intervalMs, startOf(Math.min(WINDOW_MS, limit * intervalMs), intervalMs))
  const oldestMs = await firstRecordMs(context, token, beforeMs)
  if (oldestMs === null) return []
  const lastMs = Math.min(beforeMs, context.clock.nowMs() + 1)
  let toMs = startOf(lastMs - 1, intervalMs) + intervalMs
  let candles: readonly Candle[] = []
  for (let read = 0; candles.length < limit && read < MOST_POINTS; ) {
    const floorMs = Math.max(sinceMs, oldestMs)
    if (toMs <= floorMs) break
    const fromMs = Math.max(0, toMs - windowMs)
    const made: Candle[] = []
    for await (const { atMs, value } of pointsOf(context, token, Math.max(fromMs, sinceMs), toMs)) {
      read += 1
      if (value !== null) take(made, startOf(atMs, intervalMs), value)
    }
    candles = [...made, ...candles]
    toMs = fromMs
    await nextTurn()
  }
  return candles.slice(-limit)
}

function take(made: Candle[], fromMs: number, value: Exact): void {
  const last = made.at(-1)
  if (last?.fromMs !== fromMs) {
    made.push({ fromMs, open: value, high: value, low: value, close: value })
    return
  }
  const high = exact.compare(value, last.high) > 0 ? value : last.high
  const low = exact.compare(value, last.low) < 0 ? value : last.low
  made[made.length - 1] = { ...last, high, low, close: value }
}

async function firstRecordMs(
  { store }: Pick<HttpContext, 'store'>,
  { chainId, tokenAddress }: Token,
  toMs: number,
): Promise<number | null> {
  const [first] = await store.readTokenPoints({
    chainId,
    tokenAddress,
    fromMs: 0,
    toMs,
    after: null,
    limit: 1,
  })
  return first?.atMs ?? null
}
