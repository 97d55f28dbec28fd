/** The market of one chain over its feed's calls. */
import type { NewPool } from '@assay/engine'
import type { ChainRpc } from '../feed/feed.ts'
import type { ChainConfig } from '../config/config.ts'
import { decodeBlock } from './decode.ts'
import { discoverPools, identifyPool } from './discovery.ts'
import { readBalances } from './balanceReader.ts'
import { findUnpriced } from './unpricedFamilies.ts'
import { marketOf } from './families.ts'
import type { Reader } from './family.ts'
import type { KnownTicks, LoadedPool, Market, TickSpan } from './market.ts'
import { batching } from './multicall.ts'
import { readAnswerSources, readStables } from './stableReader.ts'
import { readToken } from './tokenReader.ts'

export function openMarket(chain: ChainConfig, single: ChainRpc): Market {
  const rpc = batching(single)
  const deploymentOf = (id: string) => chain.deployments.find(({ deploymentId }) => deploymentId === id)
  const load = async (
    pool: NewPool,
    reader: Reader,
    known: KnownTicks | undefined,
    span: TickSpan | undefined,
  ): Promise<LoadedPool> => {
    const deployment = deploymentOf(pool.deploymentId)
    const read = await marketOf(pool.fee.family).load(reader, deployment, pool, known, span)
    return { pool, createdBlock: null, createdMs: null, lastTradeMs: null, ...read }
  }
  return {
    decode: (block, familyOf, wants) => decodeBlock(chain.deployments, block, familyOf, wants),
    discover: (token, block, signal) => discoverPools(rpc, chain, token, block, signal),
    elsewhere: (token, block, signal) => findUnpriced(rpc, chain, token, block, signal),
    async load(pools, block, signal, known, spans) {
      const failed: { pool: LoadedPool['pool']['address']; reason: string }[] = []
      const read = await Promise.all(
        pools.map(pool =>
          load(pool, { rpc, block, signal }, known?.get(pool.address), spans?.get(pool.address)).catch(
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
    recheck: (pools, block, signal) =>
      Promise.all(
        pools.map(async ({ address, deploymentId, family }) => ({
          address,
          state: await marketOf(family).readState(
            { rpc, block, signal },
            deploymentOf(deploymentId),
            address,
          ),
        })),
      ),
    balances: (pools, block, signal) => readBalances(rpc, pools, block, signal),
    readToken: (token, block, signal, earlier) => readToken(rpc, token, block, signal, earlier),
    readAnswerSources: (block, signal) => readAnswerSources(rpc, chain, block, signal),
    readStables: (block, signal) => readStables(rpc, chain, block, signal),
    identify: (pool, block, signal) => identifyPool(rpc, chain, pool, block, signal),
  }
}
