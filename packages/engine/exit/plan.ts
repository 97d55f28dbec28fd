/**
 * A sale as a list of swaps, each pool once, simulated by the exact adapters on one state: executed on that state in
 * that order it pays these amounts. Law: what a swap puts in has come out of those before it.
 */
import type { Address } from '../chain/block.ts'
import type { Pool } from '../entities.ts'
import { type Fraction, times } from '../exact/fraction.ts'
import { sell, type Shares, type Way, type WaysOut } from './ways.ts'

export type Swap = { readonly pool: Pool; readonly amountIn: bigint; readonly amountOut: bigint }

export type Plan = {
  readonly swaps: readonly Swap[]
  /** Units of each stable. */
  readonly proceeds: ReadonlyMap<Address, bigint>
  /** What they are worth together, unrounded. */
  readonly microusd: Fraction
  readonly shares: Shares
}

/** Null where a pool does not hold what it would be sold. */
export function planOf({ ways, pools }: WaysOut, shares: Shares): Plan | null {
  /** What each way holds at the pool it has come to. */
  const held = new Map([...shares].filter(([, amount]) => amount > 0n))
  const swaps: Swap[] = []
  for (const pool of pools) {
    const through = ways.filter(way => held.has(way) && way.pools.includes(pool))
    const amountIn = through.reduce((sum, way) => sum + (held.get(way) as bigint), 0n)
    if (amountIn === 0n) continue
    const sold = sell(pool, pool.state.amm, amountIn)
    if (sold === null) return null
    swaps.push({ pool, amountIn, amountOut: sold.amountOut })
    split(held, through, amountIn, sold.amountOut)
  }
  return { swaps, shares, ...received(held) }
}

/** Each way's part of what came out, in proportion to what it put in; units left over by rounding go to the first. */
function split(held: Map<Way, bigint>, through: readonly Way[], amountIn: bigint, amountOut: bigint): void {
  let left = amountOut
  for (const way of through) {
    const part = (amountOut * (held.get(way) as bigint)) / amountIn
    held.set(way, part)
    left -= part
  }
  const [first] = through
  if (first !== undefined) held.set(first, (held.get(first) as bigint) + left)
}

function received(held: Shares): Pick<Plan, 'proceeds' | 'microusd'> {
  const proceeds = new Map<Address, bigint>()
  const units = new Map<Address, Fraction>()
  for (const [{ stable, unitMicrousd }, amount] of held) {
    if (amount === 0n) continue
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
