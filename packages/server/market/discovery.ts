/**
 * Finds the pools of a token by factory look-up: for every deployment, every possible pool of a pair with each stable
 * and routing asset. A pool is accepted because its factory returns it and, where the init code hash is known, because
 * its address follows from it.
 */
import type { NewPool } from '@assay/engine'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import type { ChainConfig } from '../config/config.ts'
import { type Address, isAddress } from '../ops/hex.ts'
import { SELECTOR } from './abi.ts'
import { marketOf } from './families.ts'
import type { Pair } from './family.ts'
import type { PoolIdentity } from './market.ts'
import { isWord } from './reading.ts'
import { addressAt } from './abiWords.ts'

export async function discoverPools(
  rpc: ChainRpc,
  chain: ChainConfig,
  token: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<NewPool[]> {
  const reader = { rpc, block, signal }
  const partners = [...chain.stables.map(stable => stable.tokenAddress), ...chain.routingAssets].filter(
    each => each !== token,
  )
  const asked = chain.deployments.flatMap(deployment =>
    partners.map(partner => marketOf(deployment.family).find(reader, deployment, sorted(token, partner))),
  )
  return (await Promise.all(asked)).flat()
}

/** What the contract at this address is: one of our pools, a pool of an unlisted factory, or neither. */
export async function identifyPool(
  rpc: ChainRpc,
  chain: ChainConfig,
  pool: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<PoolIdentity> {
  // A pool of a manager is a number in its storage, known from its log alone.
  if (!isAddress(pool)) return { kind: 'not_a_pool' }
  const reader = { rpc, block, signal }
  const [factory, token0, token1] = await Promise.all([
    rpc.call(pool, SELECTOR['factory()'], block.hash, signal),
    rpc.call(pool, SELECTOR['token0()'], block.hash, signal),
    rpc.call(pool, SELECTOR['token1()'], block.hash, signal),
  ])
  if (!isWord(factory) || !isWord(token0) || !isWord(token1)) return { kind: 'not_a_pool' }
  const factoryAddress = addressAt(factory, 0)
  const deployment = chain.deployments.find(each => each.factoryAddress === factoryAddress)
  if (deployment === undefined) {
    const named = chain.unpricedFactories?.find(each => each.factoryAddress === factoryAddress)
    return { kind: 'unsupported', factory: factoryAddress, family: named?.family ?? null }
  }
  const pair = sorted(addressAt(token0, 0), addressAt(token1, 0))
  // The contract may claim any factory; only the factory's own answer counts.
  const found = await marketOf(deployment.family).identify(reader, deployment, pair, pool)
  return found === null ? { kind: 'not_a_pool' } : { kind: 'pool', pool: found }
}

const sorted = (a: Address, b: Address): Pair => (a < b ? [a, b] : [b, a])
