/** A small trade multiplies the price in a thin pool of a token that also has deeper pools. */
import type { Incident } from './incident.ts'
import { inOneBlock, poolsOf, push, settle, tokenFor } from './scene.ts'

const FACTOR = 1000

const isDeepElsewhere = (_: unknown, pools: readonly unknown[]) => pools.length > 3
/** The plan lists a token's thin pool last. */
const thinOf = (chain: Parameters<typeof poolsOf>[0], symbol: string) => poolsOf(chain, symbol).slice(-1)

export const thinPoolSpike: Incident = {
  name: 'thin-pool-spike',
  about: `a price times ${FACTOR} in a token's thin pool; its deep pools must outvote it`,
  async begin(chain, aim) {
    const { symbol } = tokenFor(chain, aim, 'a thin pool beside deep ones', isDeepElsewhere)
    const pools = thinOf(chain, symbol)
    chain.traders.leave(pools.map(({ address }) => address))
    for (const pool of pools) await inOneBlock(chain, await push(chain, pool, symbol, FACTOR))
    return {
      token: symbol,
      pools: pools.map(({ address }) => address),
      what: `${symbol} costs ${FACTOR} times as much in its thin pool`,
    }
  },
  async end(chain, aim) {
    const { symbol } = tokenFor(chain, aim, 'a thin pool beside deep ones', isDeepElsewhere)
    const pools = thinOf(chain, symbol)
    for (const pool of pools) await inOneBlock(chain, await settle(chain, pool))
    chain.traders.takeUp(pools.map(({ address }) => address))
    return {
      token: symbol,
      pools: pools.map(({ address }) => address),
      what: 'the thin pool is traded again',
    }
  },
}
