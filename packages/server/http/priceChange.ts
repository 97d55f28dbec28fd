/**
 * How a price stands to our own of an hour and of a day before it was evaluated, in whole basis points: the exact
 * quotient rounded once to the nearest, ties to even. Null where nothing was published then, or it had no price.
 */
import type { HistoryStore } from '../store/history.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export type PriceChange = { readonly h1_bps: number | null; readonly h24_bps: number | null }

type Price = { readonly numerator: string; readonly denominator: string }

/** Seen from the moment of evaluation, so that it belongs to the record and not to who reads it when. */
export async function changeOf(
  store: HistoryStore,
  chainId: number,
  token: string,
  { evaluated_at_ms, price_usd }: { readonly evaluated_at_ms: number; readonly price_usd: Price },
): Promise<PriceChange | null> {
  const since = async (agoMs: number): Promise<Since> => {
    const ms = evaluated_at_ms - agoMs
    const then = await store.readTokenAt(chainId, token, { ms })
    if (then === null) return null
    // A price past its expiry was presented as none.
    if (then.price === null || (then.expiresAtMs !== null && then.expiresAtMs <= ms)) return { bps: null }
    const [numerator = '', denominator = ''] = then.price.split('/')
    return { bps: changeBps(price_usd, { numerator, denominator }) }
  }
  const hour = await since(HOUR_MS)
  // A token without a record an hour ago has none from the day before either.
  if (hour === null) return null
  const day = await since(DAY_MS)
  const [h1_bps, h24_bps] = [hour.bps, day?.bps ?? null]
  return h1_bps === null && h24_bps === null ? null : { h1_bps, h24_bps }
}

/** Null where there was no record at all. */
type Since = { readonly bps: number | null } | null

/** 10,000 · (now / then − 1), to the nearest whole, ties to even; null past what a JSON integer holds. */
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
