/** A price driven up and back inside one transaction: the typical use of flash loans. */
import type { Hex } from 'viem'
import type { WorldChain } from '../local/localWorld.ts'
import { readPrice, toNumber } from '../local/poolMove.ts'
import type { WorldPool } from '../local/families/family.ts'
import { familyOf } from '../local/families/table.ts'
import type { Incident } from './incident.ts'
import { inOneBlock, poolsOf, tokenFor } from './scene.ts'

/** A concentrated pool has liquidity up to less than three times its price. */
const FACTOR = 2

export const flash: Incident = {
  name: 'flash',
  about: `a price times ${FACTOR} and back inside one block; only the end of a block may be seen`,
  async begin(chain, aim) {
    const { symbol } = tokenFor(chain, aim, 'a pool', (_, pools) => pools.length > 0)
    const pools = poolsOf(chain, symbol)
    const calls = await Promise.all(pools.map(pool => upAndBack(chain, pool, symbol)))
    await inOneBlock(chain, calls.flat())
    return {
      token: symbol,
      pools: pools.map(({ address }) => address),
      what: `${symbol} was driven to ${FACTOR} times its price and back in one transaction`,
    }
  },
}

async function upAndBack(chain: WorldChain, pool: WorldPool, symbol: string): Promise<readonly Hex[]> {
  const before = await readPrice(chain.client, pool)
  const price = toNumber(before)
  if (price === null) return []
  const isUp = pool.token0.symbol === symbol
  return familyOf(pool).thereAndBack(pool, before, isUp ? price * FACTOR : price / FACTOR)
}
