/** All liquidity of a token is withdrawn at once, while its price stays unchanged. */
import type { Incident } from './incident.ts'
import { inOneBlock, poolsOf, pull, tokenFor } from './scene.ts'

/** Everything except a tiny rest: a pair always keeps a little. */
const TAKEN = 9999n

export const rug: Incident = {
  name: 'rug',
  about:
    'all liquidity of a token is taken out in one block; depth must fall in that block, before any trade',
  async begin(chain, aim) {
    const { symbol } = tokenFor(chain, aim, 'a pool', (_, pools) => pools.length > 0)
    const pools = poolsOf(chain, symbol)
    chain.traders.leave(pools.map(({ address }) => address))
    const calls = await Promise.all(pools.map(pool => pull(chain, pool, TAKEN)))
    await inOneBlock(chain, calls.flat())
    return {
      token: symbol,
      pools: pools.map(({ address }) => address),
      what: `${symbol} lost the liquidity of ${pools.length} pools; its price did not move`,
    }
  },
}
