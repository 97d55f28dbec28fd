/** All liquidity of a pool with ticks moves to one side of its price: the price stays, with no liquidity behind it. */
import type { WorldPool } from '../local/families/family.ts'
import { familyOf } from '../local/families/table.ts'
import type { Incident } from './incident.ts'
import { inOneBlock, poolsOf, tokenFor } from './scene.ts'

const isLone = (_: unknown, pools: readonly WorldPool[]) =>
  pools.length === 1 && pools.every(pool => familyOf(pool).moveAside !== null)

export const oneSided: Incident = {
  name: 'one-sided',
  about:
    'all liquidity of a lone pool with ticks moves above its price; a price that nobody trades at must be withdrawn',
  async begin(chain, aim) {
    const { symbol } = tokenFor(chain, aim, 'a single pool, one with ticks', isLone)
    const [pool] = poolsOf(chain, symbol)
    const moveAside = pool === undefined ? null : familyOf(pool).moveAside
    if (pool === undefined || moveAside === null) throw new Error(`${symbol} has no pool with ticks`)
    chain.traders.leave([pool.address])
    await inOneBlock(chain, await moveAside(chain.client, chain.seeded.trader, pool))
    return {
      token: symbol,
      pools: [pool.address],
      what: `the pool of ${symbol} has liquidity on one side only`,
    }
  },
}
