/**
 * Pools whose liquidity is in bands of ticks: they are filled, moved, emptied and pushed aside in the same way in
 * every family. A family defines how to create a pool, read its state, and encode calls.
 */
import type { Address, Hex } from 'viem'
import type { Client } from '../../client.ts'
import * as trader from '../../trader.ts'
import { liquidityWorth, priceOf, sqrtPriceX96, tickOf } from '../valuation.ts'
import type { Band, Order, PoolPrice, WorldFamily, WorldPool } from './family.ts'

/** Ticks to each side: a wide band of nearly three times the price, and a narrow one with most of the liquidity. */
const WIDE = { ticks: 10_000, share: 0.4 }
const NARROW = { ticks: 1200, share: 0.6 }
/** Where liquidity that moved aside begins above the price, and how wide it is, in tick spacings. */
const GAP = 10
const WIDTH = 100
const ALL = 10_000n
/** More than any pool can take, so a swap ends at its price limit. */
const EVERYTHING = 1n << 200n

/** A pool at its price and without liquidity; its tokens in the pool's order. */
export type Created = Pick<WorldPool, 'address' | 'token0' | 'token1' | 'kept'>
export type Slot = { readonly sqrtPriceX96: bigint; readonly tick: number; readonly liquidity: bigint }

export type Concentrated = Pick<WorldFamily, 'deploy' | 'config'> & {
  create(order: Order): Promise<Created>
  spacingOf(client: Client, pool: WorldPool): Promise<number>
  readSlot(client: Client, pool: WorldPool): Promise<Slot>
  /** The liquidity of all bands that end at a tick. */
  readGross(client: Client, pool: WorldPool, tick: number): Promise<bigint>
  /** A negative `liquidity` is withdrawn. */
  modify(pool: WorldPool, band: Band, liquidity: bigint): Hex
  swap(pool: WorldPool, zeroForOne: boolean, amount: bigint, sqrtPriceLimitX96?: bigint): Hex
}

export function concentrated(own: Concentrated): WorldFamily {
  const { deploy, config } = own

  const pull: WorldFamily['pull'] = async (client, _trader, pool, tenThousandths) => {
    const calls = await Promise.all(
      pool.bands.map(async band => {
        // Only the trader has liquidity, and no two of its bands begin at the same tick.
        const liquidity = ((await own.readGross(client, pool, band.lower)) * tenThousandths) / ALL
        return liquidity === 0n ? [] : [own.modify(pool, band, -liquidity)]
      }),
    )
    return calls.flat()
  }

  const moveTo: WorldFamily['moveTo'] = (pool, from, target) => {
    const limit = sqrtPriceX96(target)
    const { sqrtPriceX96: root } = slotOf(from)
    return limit === root ? null : own.swap(pool, limit < root, EVERYTHING, limit)
  }

  return {
    deploy,
    config,

    async make(order) {
      const { client, deployment, pool, gas } = order
      const created = { ...(await own.create(order)), family: deployment.family, deployment: deployment.id }
      const { token1 } = created
      const price = priceOf(created.token0, token1)
      const spacing = await own.spacingOf(client, { ...created, bands: [] })
      const snap = (tick: number) => Math.round(tick / spacing) * spacing
      const centre = tickOf(price)
      const bands = [WIDE, NARROW].map(({ ticks }) => ({
        lower: snap(centre - ticks),
        upper: snap(centre + ticks),
      }))
      const mints = [WIDE, NARROW].map(({ ticks, share }, at) =>
        own.modify(
          { ...created, bands },
          bands[at] as Band,
          liquidityWorth(token1, price, pool.usd * share, ticks),
        ),
      )
      for (const outcome of await trader.batch(client, order.trader, mints, gas))
        if (!outcome.ok) throw new Error(`liquidity of ${pool.pair.join('/')} was refused: ${outcome.reason}`)
      return { ...created, bands }
    },

    async readPrice(client, pool) {
      const { sqrtPriceX96: root, tick } = await own.readSlot(client, pool)
      return { kind: 'slot', sqrtPriceX96: root, tick }
    },

    moveTo,

    thereAndBack(pool, from, target) {
      const there = moveTo(pool, from, target)
      const { sqrtPriceX96: root } = slotOf(from)
      return there === null ? [] : [there, own.swap(pool, sqrtPriceX96(target) > root, EVERYTHING, root)]
    },

    sell: (pool, isToken0, amount) => own.swap(pool, isToken0, amount),

    pull,

    async moveAside(client, account, pool) {
      const [{ tick, liquidity }, spacing] = await Promise.all([
        own.readSlot(client, pool),
        own.spacingOf(client, pool),
      ])
      const lower = (Math.ceil(tick / spacing) + GAP) * spacing
      const band = { lower, upper: lower + WIDTH * spacing }
      return [...(await pull(client, account, pool, ALL)), own.modify(pool, band, liquidity)]
    },

    trading: { worthIt: 0.0008, outOfReach: 0.5, share: 1 },
  }
}

function slotOf(price: PoolPrice) {
  if (price.kind !== 'slot') throw new Error('a pool with ticks has a slot')
  return price
}

/** The addresses of an order's tokens. */
export const addressesOf = ({ tokens: [a, b] }: Order): readonly [Address, Address] => [a.address, b.address]
