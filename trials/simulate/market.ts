/**
 * A worker's reads of a simulated chain: answers come from the world after the requested block, take time, and some
 * of them fail.
 */
import type { Address, Hex, PoolEvent } from '../../packages/engine/index.ts'
import { ms, count } from '../../packages/engine/index.ts'
import { DECIMALS, type Random } from '../../packages/engine/testing/randomMarket.ts'
import type { BlockRef } from '../../packages/server/feed/feed.ts'
import { FeedError } from '../../packages/server/feed/feedError.ts'
import type { Market } from '../../packages/server/market/market.ts'
import type { Link, SimChain } from './chain.ts'
import type { Oracle } from './oracle.ts'
import type { World } from './world.ts'

const SLOW_CHANCE = 0.1
const SLOWEST_MS = 4000
const FAILURE_CHANCE = 0.05

export function simMarket(
  chain: SimChain,
  oracle: Oracle,
  { time, counts }: Pick<World, 'time' | 'counts'>,
  random: Random,
): Market {
  const linkAt = (hash: Hex): Link => {
    const link = chain.at(hash)
    if (link === null) throw new Error(`block ${hash} was never mined`)
    return link
  }
  const answer = async (): Promise<void> => {
    time.touch()
    if (!random.chance(SLOW_CHANCE)) return
    counts.lateReadings += 1
    await time.pause(random.below(SLOWEST_MS))
  }
  /** For reads that are simply repeated with a later block. */
  const mayFail = async (): Promise<void> => {
    await answer()
    if (!random.chance(FAILURE_CHANCE)) return
    counts.failedReadings += 1
    throw new FeedError('ENDPOINT_UNREACHABLE', null, 'the endpoint did not answer')
  }
  const has = ({ pools }: Link, address: Address) => pools.some(pool => pool.address === address)

  return {
    decode(block, knows, wants) {
      const born = new Set<Address>()
      const isOurs = ({ pool, event }: PoolEvent): boolean => {
        if (event.kind !== 'CREATED') return knows(pool) !== null || born.has(pool)
        if (wants(event.pool.token0, event.pool.token1)) born.add(pool)
        return born.has(pool)
      }
      return linkAt(block.hash).block.events.filter(isOurs)
    },
    async discover(token, { hash }) {
      await answer()
      const link = linkAt(hash)
      const own = link.pools.filter(({ token0, token1 }) => token0 === token || token1 === token)
      return own.map(({ address }) => link.sim.born(address))
    },
    elsewhere: async () => [],
    async load(pools, { hash }) {
      await answer()
      const link = linkAt(hash)
      const [there, gone] = [
        pools.filter(each => has(link, each.address)),
        pools.filter(each => !has(link, each.address)),
      ]
      return {
        loaded: there.map(({ address }) => link.sim.loaded(address)),
        failed: gone.map(({ address }) => ({ pool: address, reason: 'there is no such pool at this block' })),
      }
    },
    // This world has no sales and no balances to probe.
    async balances() {
      return []
    },
    async recheck(pools, { hash }) {
      await mayFail()
      const link = linkAt(hash)
      return pools
        .filter(({ address }) => has(link, address))
        .map(({ address }) => ({ address, state: link.sim.amm(address) }))
    },
    async readToken(token) {
      await answer()
      const decimals = DECIMALS.get(token)
      if (decimals === undefined) return null
      return { token, decimals: count(decimals), reason: null, symbol: null, name: null }
    },
    async readAnswerSources() {
      await answer()
      return { aggregators: new Map(), others: new Set(), isComplete: false }
    },
    async readStables(block: BlockRef) {
      await mayFail()
      const ref = { number: count(block.number), hash: block.hash, timeMs: ms(block.timeMs) }
      return oracle.at(ref)
    },
    async identify(pool, { hash }) {
      await answer()
      const link = linkAt(hash)
      return has(link, pool) ? { kind: 'pool', pool: link.sim.born(pool) } : { kind: 'not_a_pool' }
    },
  }
}
