/** The market of one chain over its feed's calls. */
import type { ChainRpc } from '../feed/feed.ts'
import type { ChainConfig } from '../ops/config.ts'
import { decodeBlock } from './decode.ts'
import { discoverPools, identifyPool } from './discovery.ts'
import { readBalances } from './balanceReader.ts'
import { findElsewhere } from './elsewhere.ts'
import type { LoadedPool, Market } from './market.ts'
import { batching } from './multicall.ts'
import { loadPool, recheckPool } from './poolReader.ts'
import { readAnswerSources, readStables } from './stableReader.ts'
import { readToken } from './tokenReader.ts'

export function openMarket(chain: ChainConfig, single: ChainRpc): Market {
  const rpc = batching(single)
  return {
    decode: (block, knows, wants) => decodeBlock(chain.deployments, block, knows, wants),
    discover: (token, block, signal) => discoverPools(rpc, chain, token, block, signal),
    elsewhere: (token, block, signal) => findElsewhere(rpc, chain, token, block, signal),
    async load(pools, block, signal, known, spans) {
      const failed: { pool: LoadedPool['pool']['address']; reason: string }[] = []
      const read = await Promise.all(
        pools.map(pool =>
          loadPool(rpc, pool, block, signal, known?.get(pool.address), spans?.get(pool.address)).catch(
            (failure: unknown) => {
              if (!(failure instanceof RangeError)) throw failure
              failed.push({ pool: pool.address, reason: failure.message })
              return null
            },
          ),
        ),
      )
      return { loaded: read.filter(each => each !== null), failed }
    },
    recheck: (pools, block, signal) => Promise.all(pools.map(pool => recheckPool(rpc, pool, block, signal))),
    balances: (pools, block, signal) => readBalances(rpc, pools, block, signal),
    readToken: (token, block, signal, earlier) => readToken(rpc, token, block, signal, earlier),
    readAnswerSources: (block, signal) => readAnswerSources(rpc, chain, block, signal),
    readStables: (block, signal) => readStables(rpc, chain, block, signal),
    identify: (pool, block, signal) => identifyPool(rpc, chain, pool, block, signal),
  }
}
