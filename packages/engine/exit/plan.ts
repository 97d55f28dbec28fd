/**
 * A sale as a list of swaps, each pool once, simulated by the exact adapters on one state: executed on that state in
 * that order it pays these amounts. Law: the input of a swap is output of the swaps before it.
 */
import type { Address } from '../chain/block.ts'
import type { Pool } from '../entities.ts'
import { type Fraction, times } from '../exact/fraction.ts'
import { arriving, sell, type Shares, type Way, type WaysOut } from './ways.ts'

/** `amountIn` is the amount sent to the pool; for a token with a tax, less arrives. */
export type Swap = { readonly pool: Pool; readonly amountIn: bigint; readonly amountOut: bigint }

export type Plan = {
  readonly swaps: readonly Swap[]
  /** Units of each stable. */
  readonly proceeds: ReadonlyMap<Address, bigint>
  /** Their total value, unrounded. */
  readonly microusd: Fraction
  readonly shares: Shares
}

/** The amount each way holds at its current pool, by position; undefined for a way that takes no part. */
type Held = (bigint | undefined)[]

/** Null when a pool cannot take the amount it would be sold. */
export function planOf({ stops, taxBps }: WaysOut, shares: Shares): Plan | null {
  const held: Held = []
  for (const [way, amount] of shares) if (amount > 0n) held[way.at] = amount
  const swaps: Swap[] = []
  for (const { pool, through } of stops) {
    let amountIn = 0n
    for (const { at } of through) amountIn += held[at] ?? 0n
    if (amountIn === 0n) continue
    // The token itself is sold in first pools only.
    const isFirst = through[0]?.pools[0] === pool
    const sold = sell(pool, pool.state.amm, isFirst ? arriving(amountIn, taxBps) : amountIn)
    if (sold === null) return null
    swaps.push({ pool, amountIn, amountOut: sold.amountOut })
    split(held, through, amountIn, sold.amountOut)
  }
  return { swaps, shares, ...received(held, shares) }
}

/** Each way's part of the output, in proportion to its input; units left over by rounding go to the first way. */
function split(held: Held, through: readonly Way[], amountIn: bigint, amountOut: bigint): void {
  let left = amountOut
  let first: Way | null = null
  for (const way of through) {
    const put = held[way.at]
    if (put === undefined) continue
    first ??= way
    const part = put === amountIn ? amountOut : (amountOut * put) / amountIn
    held[way.at] = part
    left -= part
  }
  if (first !== null && left > 0n) held[first.at] = (held[first.at] as bigint) + left
}

function received(held: Held, shares: Shares): Pick<Plan, 'proceeds' | 'microusd'> {
  const proceeds = new Map<Address, bigint>()
  const units = new Map<Address, Fraction>()
  for (const { at, stable, unitMicrousd } of shares.keys()) {
    const amount = held[at]
    if (amount === undefined || amount === 0n) continue
    proceeds.set(stable.token, (proceeds.get(stable.token) ?? 0n) + amount)
    units.set(stable.token, unitMicrousd)
  }
  let microusd: Fraction = { num: 0n, den: 1n }
  for (const [token, amount] of proceeds) {
    const each = times({ num: amount, den: 1n }, units.get(token) as Fraction)
    microusd = { num: microusd.num * each.den + each.num * microusd.den, den: microusd.den * each.den }
  }
  return { proceeds, microusd }
}

export const paysMore = (a: Plan, b: Plan): boolean =>
  a.microusd.num * b.microusd.den > b.microusd.num * a.microusd.den
