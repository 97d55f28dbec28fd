/**
 * Stored candles of our published prices, at one minute, five minutes, an hour and a day. They follow from history:
 * `candlesAt` is the sequence up to which every price is in them. What came later, and what was withdrawn later, the
 * reader adds; so a row that is ahead of that sequence does no harm, and one that is missing would.
 */
import type { HistoryPoint } from './history.ts'
import type { Sequence } from './rows.ts'
import type { Withdrawal } from './withdrawals.ts'

/** Each is a whole multiple of the one before, and is made from it. */
export const CANDLE_LEVELS_MS = [60_000, 300_000, 3_600_000, 86_400_000] as const

/** Prices are `numerator/denominator`. */
export type CandleRow = {
  readonly fromMs: number
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly records: number
  /** The highest block of its prices: a withdrawal above it does not concern it. */
  readonly topBlock: number
}

export type CandleSeries = {
  readonly chainId: number
  readonly tokenAddress: string
  readonly intervalMs: number
}

export type TokenPoint = HistoryPoint & { readonly chainId: number; readonly tokenAddress: string }

/** The candles to store; `row` is null where every price was withdrawn. */
export type CandleChange = {
  readonly through: Sequence
  readonly candles: readonly (CandleSeries & { readonly fromMs: number; readonly row: CandleRow | null })[]
}

export type CandleStore = {
  readCandlesAt(): Promise<Sequence>
  /** Those that begin in `[fromMs, toMs)`, oldest first. */
  readCandles(
    series: CandleSeries,
    range: { readonly fromMs: number; readonly toMs: number; readonly limit: number },
  ): Promise<readonly CandleRow[]>
  /** Points of a token above a sequence, in the order of the log. */
  readTokenTail(
    chainId: number,
    tokenAddress: string,
    after: Sequence,
    limit: number,
  ): Promise<readonly HistoryPoint[]>
}

/** For the one who builds them. */
export type CandleBuildStore = {
  /** Points of all tokens above a sequence, in the order of the log. */
  readPointsAfter(after: Sequence, limit: number): Promise<readonly TokenPoint[]>
  /** Withdrawals of all chains above `after`, up to `through`. */
  readWithdrawalsBetween(
    after: Sequence,
    through: Sequence,
  ): Promise<readonly (Withdrawal & { readonly chainId: number })[]>
  /** The candles of a minute with prices of this block or a later one. */
  readCandlesFrom(
    chainId: number,
    blockNumber: number,
  ): Promise<readonly { readonly tokenAddress: string; readonly fromMs: number }[]>
  /**
   * Asks for the change that follows the present sequence, and stores it. One at a time: a second caller, in this or in
   * another process, gets `busy`. Null changes nothing, and is answered `idle`.
   */
  changeCandles(next: (at: Sequence) => Promise<CandleChange | null>): Promise<'changed' | 'idle' | 'busy'>
}
