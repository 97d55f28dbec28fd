/** A price driven up and held there, block after block, until it is released. */
import type { WorldPool } from '../local/families/family.ts'
import type { Incident } from './incident.ts'
import { inOneBlock, poolsOf, push, settle, tokenFor } from './scene.ts'

const FACTOR = 1.8

const isLone = (_: unknown, pools: readonly WorldPool[]) => pools.length === 1

export const multiBlock: Incident = {
  name: 'multi-block',
  about: `a lone pool's price times ${FACTOR}, held until it is ended; it scores low until it has held for long`,
  async begin(chain, aim) {
    const { symbol } = tokenFor(chain, aim, 'a single pool', isLone)
    const pools = poolsOf(chain, symbol)
    chain.traders.leave(pools.map(({ address }) => address))
    for (const pool of pools) await inOneBlock(chain, await push(chain, pool, symbol, FACTOR))
    return {
      token: symbol,
      pools: pools.map(({ address }) => address),
      what: `${symbol} is held at ${FACTOR} times its price`,
    }
  },
  async end(chain, aim) {
    const { symbol } = tokenFor(chain, aim, 'a single pool', isLone)
    const pools = poolsOf(chain, symbol)
    for (const pool of pools) await inOneBlock(chain, await settle(chain, pool))
    chain.traders.takeUp(pools.map(({ address }) => address))
    return { token: symbol, pools: pools.map(({ address }) => address), what: `${symbol} is let go` }
  },
}
