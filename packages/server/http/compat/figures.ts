/**
 * Values that vendors report about a token besides its price: the volume of a day, and the contents of its pools. Each
 * is complete, or absent with a reason. A volume is cached for a minute, because summing up a day is slow.
 */
import { exact } from '@assay/sdk'
import type { PoolRow } from '../../store/port.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { type PoolMoment, readingOfPool } from '../views/poolReading.ts'
import { hasPrice, priceAt } from './pastPrices.ts'
import { type Price, priceIn, type Token } from './prices.ts'
import { percentBetween, type Signed } from './rounding.ts'
import { poolsOf, sumOf, tradedIn, volumeOf } from './tradedPools.ts'

export type Needs = Pick<
  HttpContext,
  'chains' | 'clock' | 'config' | 'feeds' | 'flights' | 'limit' | 'quotes' | 'settings' | 'store'
>

export const DAY_MS = 86_400_000
/** What a response with sums or candles costs in addition to its request. */
export const FIGURE_UNITS = 2
const KEPT_MS = 60_000
const MOST_KEPT = 5000

export type Figure = exact.Exact | string

export class DayVolumes {
  readonly #context: Needs
  readonly #kept = new Map<string, { readonly volume: Figure; readonly atMs: number }>()

  constructor(context: Needs) {
    this.#context = context
  }

  async ofToken(token: Token): Promise<Figure> {
    return this.#of(`${token.chainId}/${token.tokenAddress}`, token, () => poolsOf(this.#context, token))
  }

  /** The volume of one pool, measured in `token`. */
  async ofPool(pool: PoolRow, token: Token): Promise<Figure> {
    return this.#of(`${pool.chainId}/${pool.poolAddress}/${token.tokenAddress}`, token, async () => [pool])
  }

  async #of(key: string, token: Token, pools: () => Promise<readonly PoolRow[] | null>): Promise<Figure> {
    const { clock, flights } = this.#context
    const kept = this.#kept.get(key)
    if (kept !== undefined && clock.monotonicMs() - kept.atMs < KEPT_MS) return kept.volume
    return flights.run(`volume ${key}`, async () => {
      const volume = await this.#read(token, await pools())
      this.#kept.delete(key)
      this.#kept.set(key, { volume, atMs: clock.monotonicMs() })
      for (const [oldest] of this.#kept) {
        if (this.#kept.size <= MOST_KEPT) break
        this.#kept.delete(oldest)
      }
      return volume
    })
  }

  async #read(token: Token, pools: readonly PoolRow[] | null): Promise<Figure> {
    if (pools === null) return 'TOO_MANY_POOLS'
    const nowMs = this.#context.clock.nowMs()
    const traded = await tradedIn(this.#context, token, pools, nowMs - DAY_MS)
    return typeof traded === 'string' ? traded : volumeOf(traded, nowMs - DAY_MS, nowMs + 1)
  }
}

type Reserves = {
  readonly finality: string
  readonly differences?: readonly object[]
  readonly reserves?: { readonly reserve0: string; readonly reserve1: string }
}
export type Decimals = { readonly token0: number | null; readonly token1: number | null }

/** Both sides of a pool at their prices. A concentrated pool does not reveal what it holds outside the known ranges. */
export function reserveOf(context: Needs, row: PoolRow, decimals: Decimals, moment: PoolMoment): Figure {
  if (row.state === null) return 'NOT_VERIFIED'
  const state = JSON.parse(row.state) as Reserves
  const { freshness } = readingOfPool(state, moment)
  const isVerified = state.finality !== 'unverified' && state.differences === undefined && freshness.score > 0
  if (!isVerified) return 'NOT_VERIFIED'
  if (state.reserves === undefined) return 'RESERVE_UNKNOWN'
  const { reserve0, reserve1 } = state.reserves
  const sides = [
    sideOf(priceIn(context, row.chainId, row.prices.token0), reserve0, decimals.token0),
    sideOf(priceIn(context, row.chainId, row.prices.token1), reserve1, decimals.token1),
  ]
  const known = sides.filter(side => typeof side !== 'string')
  return known.length < sides.length ? 'RESERVE_WITHOUT_PRICE' : sumOf(known)
}

const sideOf = (price: Price | string, amount: string, decimals: number | null): Figure =>
  typeof price === 'string' || decimals === null
    ? 'NO_PRICE'
    : exact.multiply(price.value, BigInt(amount), decimals)

/** The change in per cent from the price published `agoMs` earlier. */
export async function changeSince(
  context: Needs,
  token: Token,
  now: Price,
  agoMs: number,
): Promise<Signed | string> {
  const then = await priceAt(context, token, context.clock.nowMs() - agoMs)
  return hasPrice(then) ? percentBetween(then.value, now.value) : then
}
