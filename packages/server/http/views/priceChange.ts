/**
 * How a price changed from our own price an hour and a day before its evaluation, in whole basis points: the exact
 * quotient rounded once to the nearest, ties to even. Null when nothing was published then, or there was no price.
 */
import type { HistoryStore, PriceThen } from '../../store/history.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export type PriceChange = { readonly h1_bps: number | null; readonly h24_bps: number | null }

type Price = { readonly numerator: string; readonly denominator: string }

type Evaluated = { readonly evaluated_at_ms: number; readonly price_usd: Price }

/**
 * The two earlier moments a change compares with, counted from the evaluation: the change belongs to the record and not
 * to the time of reading.
 */
export const lookedBackTo = ({ evaluated_at_ms }: Evaluated): readonly [hourMs: number, dayMs: number] => [
  evaluated_at_ms - HOUR_MS,
  evaluated_at_ms - DAY_MS,
]

export async function changeOf(
  store: Pick<HistoryStore, 'readTokenAt'>,
  chainId: number,
  token: string,
  quote: Evaluated,
): Promise<PriceChange | null> {
  const [hourMs, dayMs] = lookedBackTo(quote)
  const hour = await store.readTokenAt(chainId, token, { ms: hourMs })
  // A token without a record an hour ago has none from the day before either.
  if (hour === null) return null
  return changeFrom(quote, hour, await store.readTokenAt(chainId, token, { ms: dayMs }))
}

/** From the prices at both moments; null without either. */
export function changeFrom(
  quote: Evaluated,
  hour: PriceThen | null,
  day: PriceThen | null,
): PriceChange | null {
  const [hourMs, dayMs] = lookedBackTo(quote)
  const [h1_bps, h24_bps] = [bpsSince(quote, hour, hourMs), bpsSince(quote, day, dayMs)]
  return h1_bps === null && h24_bps === null ? null : { h1_bps, h24_bps }
}

function bpsSince({ price_usd }: Evaluated, then: PriceThen | null, ms: number): number | null {
  const price = then === null ? null : priceIn(then, ms)
  return price === null ? null : changeBps(price_usd, price)
}

/** The price valid at a moment; null when it had expired by then or there was none. */
export function priceIn({ price, expiresAtMs }: PriceThen, ms: number): Price | null {
  if (price === null || (expiresAtMs !== null && expiresAtMs <= ms)) return null
  const [numerator = '', denominator = ''] = price.split('/')
  return { numerator, denominator }
}

/** 10,000 · (now / then − 1), to the nearest whole, ties to even; null beyond the range of a JSON integer. */
export function changeBps(now: Price, then: Price): number | null {
  const grown = BigInt(now.numerator) * BigInt(then.denominator)
  const base = BigInt(now.denominator) * BigInt(then.numerator)
  const bps = nearest(10_000n * (grown - base), base)
  return bps > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(bps)
}

/** `num / den` to the nearest integer, ties to even; `den` is positive. */
function nearest(num: bigint, den: bigint): bigint {
  const rest = ((num % den) + den) % den
  const floor = (num - rest) / den
  const twice = 2n * rest
  return twice > den || (twice === den && floor % 2n !== 0n) ? floor + 1n : floor
}
