/** A price driven up and back inside one transaction: what flash loans are for. */
import type { Hex } from 'viem'
import type { WorldChain } from '../local/localWorld.ts'
import { moveTo, readPrice, toNumber, V2_FEE } from '../local/poolMove.ts'
import type { WorldPool } from '../local/seeding.ts'
import * as trader from '../trader.ts'
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

async function upAndBack(chain: WorldChain, pool: WorldPool, symbol: string): Promise<Hex[]> {
  const before = await readPrice(chain.client, pool)
  const price = toNumber(before)
  if (price === null) return []
  const isUp = pool.token0.symbol === symbol
  const target = isUp ? price * FACTOR : price / FACTOR
  if (before.family === 'amm_v3') {
    const there = moveTo(pool, before, target)
    const back = trader.swapV3(pool.address, isUp, 1n << 200n, before.sqrtPriceX96)
    return there === null ? [] : [there, back]
  }
  // The token is bought with the other side, and exactly what was bought is sold again.
  const [reserveIn, reserveOut] = isUp
    ? [before.reserve1, before.reserve0]
    : [before.reserve0, before.reserve1]
  const amountIn = BigInt(Math.floor(Number(reserveIn) * (Math.sqrt(FACTOR) - 1)))
  const traded = amountIn * V2_FEE.numerator
  const bought = (traded * reserveOut) / (reserveIn * V2_FEE.denominator + traded)
  return [
    trader.swapExactInV2(pool.address, !isUp, amountIn, V2_FEE),
    trader.swapExactInV2(pool.address, isUp, bought, V2_FEE),
  ]
}
