/** All liquidity of a v3 pool moves to one side of its price: the price stands, and nobody stands behind it. */
import { v3PoolAbi } from '../contracts/abi.ts'
import { readPrice } from '../local/poolMove.ts'
import type { WorldPool } from '../local/seeding.ts'
import * as trader from '../trader.ts'
import type { Incident } from './incident.ts'
import { inOneBlock, poolsOf, pull, tokenFor } from './scene.ts'

const ALL = 10_000n
/** The new band, in multiples of the pool's tick spacing: where it begins above the price, and how wide it is. */
const GAP = 10
const WIDTH = 100

const isLoneV3 = (_: unknown, pools: readonly WorldPool[]) =>
  pools.length === 1 && pools.every(({ family }) => family === 'amm_v3')

export const oneSided: Incident = {
  name: 'one-sided',
  about: 'all liquidity of a lone v3 pool moves above its price; a price nobody trades at must go',
  async begin(chain, aim) {
    const { symbol } = tokenFor(chain, aim, 'a single v3 pool', isLoneV3)
    const [pool] = poolsOf(chain, symbol)
    if (pool === undefined) throw new Error(`${symbol} has no pool`)
    chain.traders.leave([pool.address])
    const { address } = pool
    const price = await readPrice(chain.client, pool)
    if (price.family !== 'amm_v3') throw new Error(`${address} is no v3 pool`)
    const [liquidity, spacing] = await Promise.all([
      chain.client.readContract({ address, abi: v3PoolAbi, functionName: 'liquidity' }),
      chain.client.readContract({ address, abi: v3PoolAbi, functionName: 'tickSpacing' }),
    ])
    const lower = (Math.ceil(price.tick / spacing) + GAP) * spacing
    await inOneBlock(chain, [
      ...(await pull(chain, pool, ALL)),
      trader.mintV3(address, lower, lower + WIDTH * spacing, liquidity),
    ])
    return { token: symbol, pools: [address], what: `the pool of ${symbol} has liquidity on one side only` }
  },
}
