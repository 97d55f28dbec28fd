/**
 * The price of a pool, and the trade that brings it elsewhere. Prices are atomic token1 per atomic token0, as
 * doubles: they make a world, not a price anyone is told.
 */
import type { Hex } from 'viem'
import type { Client } from '../client.ts'
import { v2PairAbi, v3PoolAbi } from '../contracts/abi.ts'
import * as trader from '../trader.ts'
import type { WorldPool } from './seeding.ts'
import { sqrtPriceX96 } from './valuation.ts'

export type PoolPrice =
  | { readonly family: 'amm_v2'; readonly reserve0: bigint; readonly reserve1: bigint }
  | { readonly family: 'amm_v3'; readonly sqrtPriceX96: bigint; readonly tick: number }

export const V2_FEE = { numerator: 997n, denominator: 1000n }
/** More than any pool can take: a v3 swap then ends at its price limit. */
const EVERYTHING = 1n << 200n
const Q96 = 2 ** 96

export async function readPrice(client: Client, pool: WorldPool): Promise<PoolPrice> {
  if (pool.family === 'amm_v3') {
    const [root, tick] = await client.readContract({
      address: pool.address,
      abi: v3PoolAbi,
      functionName: 'slot0',
    })
    return { family: 'amm_v3', sqrtPriceX96: root, tick }
  }
  const [reserve0, reserve1] = await client.readContract({
    address: pool.address,
    abi: v2PairAbi,
    functionName: 'getReserves',
  })
  return { family: 'amm_v2', reserve0, reserve1 }
}

/** Null for a pair that is empty. */
export function toNumber(price: PoolPrice): number | null {
  if (price.family === 'amm_v3') return (Number(price.sqrtPriceX96) / Q96) ** 2
  if (price.reserve0 === 0n || price.reserve1 === 0n) return null
  return Number(price.reserve1) / Number(price.reserve0)
}

/**
 * The trade that brings a pool to a price, `share` of the way for a pair; null where there is nothing to do.
 * x·y = k: to reach the price p, the reserve of token0 becomes √(k/p).
 */
export function moveTo(pool: WorldPool, from: PoolPrice, target: number, share = 1): Hex | null {
  if (from.family === 'amm_v3') {
    const limit = sqrtPriceX96(target)
    return limit === from.sqrtPriceX96
      ? null
      : trader.swapV3(pool.address, limit < from.sqrtPriceX96, EVERYTHING, limit)
  }
  const [x, y] = [Number(from.reserve0), Number(from.reserve1)]
  if (x === 0 || y === 0) return null
  const isSale = y / x > target
  const amount = (isSale ? Math.sqrt((x * y) / target) - x : Math.sqrt(x * y * target) - y) * share
  const amountIn = BigInt(Math.floor(Math.max(0, amount)))
  return amountIn === 0n ? null : trader.swapExactInV2(pool.address, isSale, amountIn, V2_FEE)
}
