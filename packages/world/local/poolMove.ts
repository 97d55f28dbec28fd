/**
 * The price of a pool, and the trade that moves it, according to its family. Prices are atomic token1 per atomic
 * token0, as doubles: they only shape the world and are never published.
 */
import type { Hex } from 'viem'
import type { Client } from '../client.ts'
import type { PoolPrice, WorldPool } from './families/family.ts'
import { familyOf } from './families/table.ts'

const Q96 = 2 ** 96

export const readPrice = (client: Client, pool: WorldPool): Promise<PoolPrice> =>
  familyOf(pool).readPrice(client, pool)

/** Null for a pair that is empty. */
export function toNumber(price: PoolPrice): number | null {
  if (price.kind === 'slot') return (Number(price.sqrtPriceX96) / Q96) ** 2
  if (price.reserve0 === 0n || price.reserve1 === 0n) return null
  return Number(price.reserve1) / Number(price.reserve0)
}

/** The trade that brings a pool to a price, `share` of the way for a pair; null when there is nothing to do. */
export const moveTo = (pool: WorldPool, from: PoolPrice, target: number, share?: number): Hex | null =>
  familyOf(pool).moveTo(pool, from, target, share)
