/**
 * Builds the stored candles from history, beside the commits. A step takes the next points of the log, and makes the
 * minutes they fall into, and those that a withdrawal reaches; then the longer candles from the shorter ones. A
 * step that is repeated gives the same, so it may be interrupted anywhere.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { exact } from '@assay/sdk'
import {
  CANDLE_LEVELS_MS,
  type CandleBuildStore,
  type CandleChange,
  type CandleRow,
  type CandleSeries,
  type CandleStore,
  type TokenPoint,
} from './candles.ts'
import type { HistoryPoint, HistoryStore } from './history.ts'
import type { Sequence } from './rows.ts'
import { standingPoints } from './standing.ts'
import type { ScanStore } from './withdrawalScan.ts'
import type { WithdrawalStore } from './withdrawals.ts'

export type BuildingStore = CandleStore & CandleBuildStore & HistoryStore & WithdrawalStore & ScanStore

/** PostgreSQL keeps a transaction open for a step, and ends one that does nothing for four seconds. */
const POINTS_A_STEP = 200
/** Points of a read, and reads between two turns of the event loop. */
const PAGE = 1000
const READS_A_TURN = 5
/** Prices younger than this wait: most reorganisations are over by then, and a minute is built once. */
const SETTLING_MS = 120_000
const MINUTE_MS = CANDLE_LEVELS_MS[0]

/** Builds what is due; true when more may be. */
export async function buildCandles(store: BuildingStore, nowMs: number): Promise<boolean> {
  const outcome = await store.changeCandles(at => nextChange(store, at, nowMs))
  return outcome === 'changed'
}

async function nextChange(store: BuildingStore, at: Sequence, nowMs: number): Promise<CandleChange | null> {
  // Withdrawals that are still to be found in an older log would come too late.
  if ((await store.readWithdrawalScan()) !== null) return null
  const points = settled(await store.readPointsAfter(at, POINTS_A_STEP), nowMs)
  const last = points.at(-1)
  if (last === undefined) return null
  const change = new Change(store)
  for (const { chainId, tokenAddress, atMs, price } of points)
    if (price !== null) change.touch(chainId, tokenAddress, atMs)
  const withdrawals = await store.readWithdrawalsBetween(at, last.sequence)
  for (const { chainId, blockNumber } of withdrawals)
    for (const { tokenAddress, fromMs } of await store.readCandlesFrom(chainId, blockNumber))
      change.touch(chainId, tokenAddress, fromMs)
  return { through: last.sequence, candles: await change.candles() }
}

/** The points up to the first young one. A time in the future is a wrong clock, which nobody can wait for. */
function settled(points: readonly TokenPoint[], nowMs: number): readonly TokenPoint[] {
  const young = points.findIndex(({ atMs }) => atMs > nowMs - SETTLING_MS && atMs <= nowMs)
  return young < 0 ? points : points.slice(0, young)
}

type Token = { readonly chainId: number; readonly tokenAddress: string; readonly minutes: Set<number> }

class Change {
  readonly #store: BuildingStore
  readonly #tokens = new Map<string, Token>()
  #reads = 0

  constructor(store: BuildingStore) {
    this.#store = store
  }

  touch(chainId: number, tokenAddress: string, atMs: number): void {
    const name = `${chainId} ${tokenAddress}`
    const token = this.#tokens.get(name) ?? { chainId, tokenAddress, minutes: new Set<number>() }
    this.#tokens.set(name, token)
    token.minutes.add(startOf(atMs, MINUTE_MS))
  }

  async candles(): Promise<CandleChange['candles']> {
    const candles: CandleChange['candles'][number][] = []
    for (const token of this.#tokens.values())
      for (const each of await this.#ofToken(token)) candles.push(each)
    return candles
  }

  async #ofToken({ chainId, tokenAddress, minutes }: Token): Promise<CandleChange['candles']> {
    const candles: CandleChange['candles'][number][] = []
    let below = new Map<number, CandleRow | null>()
    for (const [level, intervalMs] of CANDLE_LEVELS_MS.entries()) {
      const series = { chainId, tokenAddress, intervalMs }
      const made = new Map<number, CandleRow | null>()
      for (const fromMs of new Set([...minutes].map(each => startOf(each, intervalMs)))) {
        const row =
          level === 0
            ? await this.#fromPoints(series, fromMs)
            : await this.#fromCandles(series, fromMs, CANDLE_LEVELS_MS[level - 1] as number, below)
        made.set(fromMs, row)
        candles.push({ ...series, fromMs, row })
      }
      below = made
    }
    return candles
  }

  async #fromPoints(series: CandleSeries, fromMs: number): Promise<CandleRow | null> {
    await this.#pause()
    return candleOfPoints(await pointsIn(this.#store, series, fromMs, fromMs + series.intervalMs), fromMs)
  }

  /** `made` are shorter candles of this change, which are not stored yet. */
  async #fromCandles(
    series: CandleSeries,
    fromMs: number,
    shorterMs: number,
    made: ReadonlyMap<number, CandleRow | null>,
  ): Promise<CandleRow | null> {
    await this.#pause()
    const toMs = fromMs + series.intervalMs
    const limit = series.intervalMs / shorterMs
    const stored = await this.#store.readCandles(
      { ...series, intervalMs: shorterMs },
      { fromMs, toMs, limit },
    )
    const rows = new Map<number, CandleRow | null>(stored.map(row => [row.fromMs, row]))
    for (const [at, row] of made) if (at >= fromMs && at < toMs) rows.set(at, row)
    const standing = [...rows.values()].filter(row => row !== null)
    return joined(
      standing.toSorted((a, b) => a.fromMs - b.fromMs),
      fromMs,
    )
  }

  async #pause(): Promise<void> {
    this.#reads += 1
    if (this.#reads % READS_A_TURN === 0) await nextTurn()
  }
}

/** All points of a token in a time, without those that were withdrawn. */
export async function pointsIn(
  store: Pick<HistoryStore, 'readTokenPoints' | 'readTokenAt'> & WithdrawalStore,
  { chainId, tokenAddress }: Pick<CandleSeries, 'chainId' | 'tokenAddress'>,
  fromMs: number,
  toMs: number,
): Promise<readonly HistoryPoint[]> {
  const points: HistoryPoint[] = []
  for (let after: HistoryPoint | null = null; ; ) {
    const query = { chainId, tokenAddress, fromMs, toMs, after, limit: PAGE }
    const page: readonly HistoryPoint[] = await store.readTokenPoints(query)
    points.push(...(await standingPoints(store, { chainId, tokenAddress }, page)))
    if (page.length < PAGE) return points
    after = page.at(-1) ?? null
    await nextTurn()
  }
}

/** Points in the order of time; null without a price. */
export function candleOfPoints(points: readonly HistoryPoint[], fromMs: number): CandleRow | null {
  let row: CandleRow | null = null
  for (const { price, blockNumber } of points)
    if (price !== null) {
      const one = {
        fromMs,
        open: price,
        high: price,
        low: price,
        close: price,
        records: 1,
        topBlock: blockNumber,
      }
      row = row === null ? one : join(row, one)
    }
  return row
}

/** Candles in the order of time, as one. */
export function joined(rows: readonly CandleRow[], fromMs: number): CandleRow | null {
  let all: CandleRow | null = null
  for (const row of rows) all = all === null ? { ...row, fromMs } : join(all, row)
  return all
}

const join = (a: CandleRow, b: CandleRow): CandleRow => ({
  fromMs: a.fromMs,
  open: a.open,
  high: isAbove(b.high, a.high) ? b.high : a.high,
  low: isAbove(a.low, b.low) ? b.low : a.low,
  close: b.close,
  records: a.records + b.records,
  topBlock: b.topBlock > a.topBlock ? b.topBlock : a.topBlock,
})

/** Stored prices are already reduced, so equal ones are the same text. */
const isAbove = (a: string, b: string): boolean => a !== b && exact.compare(valueOf(a), valueOf(b)) > 0

export function valueOf(price: string): exact.Exact {
  const [numerator = '', denominator = ''] = price.split('/')
  return exact.from({ numerator, denominator })
}

const startOf = (atMs: number, intervalMs: number): number => atMs - (atMs % intervalMs)
