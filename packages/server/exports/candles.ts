/**
 * Candles of our own published prices: open, high, low and close of the records in a bucket, exact. A bucket without a
 * published price is absent; no price is carried over from the one before.
 */
import { exact } from '@assay/sdk'
import type { HistoryPoint } from '../store/history.ts'

export const INTERVALS_MS = { '1m': 60_000, '5m': 300_000, '1h': 3_600_000, '1d': 86_400_000 } as const
export type Interval = keyof typeof INTERVALS_MS
export const isInterval = (text: string): text is Interval => Object.hasOwn(INTERVALS_MS, text)

type Exact = exact.Exact

export type Bucket = {
  readonly fromMs: number
  readonly open: Exact
  high: Exact
  low: Exact
  close: Exact
  records: number
}

export const begin = (fromMs: number, price: Exact): Bucket => ({
  fromMs,
  open: price,
  high: price,
  low: price,
  close: price,
  records: 1,
})

export function add(bucket: Bucket, price: Exact): void {
  if (exact.compare(price, bucket.high) > 0) bucket.high = price
  if (exact.compare(price, bucket.low) < 0) bucket.low = price
  bucket.close = price
  bucket.records += 1
}

/** Takes points in order of time, and returns the completed buckets. */
export class CandleMaker {
  readonly #intervalMs: number
  #bucket: Bucket | null = null
  readonly made: object[] = []

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** Start of the bucket that points are still added to. */
  get openFromMs(): number | null {
    return this.#bucket?.fromMs ?? null
  }

  take({ atMs, price }: Pick<HistoryPoint, 'atMs' | 'price'>): void {
    if (price === null) return
    const fromMs = startOf(atMs, this.#intervalMs)
    const value = valueOf(price)
    if (this.#bucket?.fromMs !== fromMs) {
      this.end()
      this.#bucket = begin(fromMs, value)
      return
    }
    add(this.#bucket, value)
  }

  /** No more points will come: the last bucket is complete. */
  end(): void {
    if (this.#bucket === null) return
    const { fromMs, open, high, low, close, records } = this.#bucket
    this.made.push({
      from_ms: fromMs,
      to_ms: fromMs + this.#intervalMs,
      open: textOf(open),
      high: textOf(high),
      low: textOf(low),
      close: textOf(close),
      records,
    })
    this.#bucket = null
  }
}

/** Buckets begin at whole multiples of their length since the epoch. */
export const startOf = (atMs: number, intervalMs: number): number => atMs - (atMs % intervalMs)

function valueOf(price: string): Exact {
  const [numerator = '', denominator = ''] = price.split('/')
  return exact.from({ numerator, denominator })
}

/** Stored prices are already reduced. */
const textOf = (value: Exact): object => ({
  numerator: value.num.toString(),
  denominator: value.den.toString(),
  display: exact.format(value),
})
