/**
 * Pools by factory look-up: for a token, every deployment, fee tier, stable and routing asset. A pool is
 * accepted because its factory names it, and where the init code hash is known because the address follows.
 */
import type { NewPool } from '@assay/engine'
import { tick } from '@assay/engine'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import type { Address, ChainConfig, DeploymentConfig, Hex } from '../ops/config.ts'
import { SELECTOR } from './abi.ts'
import { poolAddress } from './create2.ts'
import type { PoolIdentity } from './market.ts'
import { addressAt, callData, encodeAddress, encodeInt, smallInt, uintAt, wordCount } from './words.ts'

const NO_POOL = `0x${'0'.repeat(40)}`

export async function discoverPools(
  rpc: ChainRpc,
  chain: ChainConfig,
  token: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<NewPool[]> {
  const partners = [...chain.stables.map(stable => stable.tokenAddress), ...chain.routingAssets].filter(
    each => each !== token,
  )
  const asked = chain.deployments.flatMap(deployment =>
    partners.flatMap(partner =>
      tiersOf(deployment).map(feePpm => lookUp(rpc, deployment, token, partner, feePpm, block, signal)),
    ),
  )
  return (await Promise.all(asked)).filter(pool => pool !== null)
}

/** What a contract at this address is: one of our pools, a pool of a factory we do not list, or neither. */
export async function identifyPool(
  rpc: ChainRpc,
  chain: ChainConfig,
  pool: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<PoolIdentity> {
  const [factory, token0, token1, fee] = await Promise.all([
    rpc.call(pool, SELECTOR['factory()'], block.hash, signal),
    rpc.call(pool, SELECTOR['token0()'], block.hash, signal),
    rpc.call(pool, SELECTOR['token1()'], block.hash, signal),
    rpc.call(pool, SELECTOR['fee()'], block.hash, signal),
  ])
  if (!isWord(factory) || !isWord(token0) || !isWord(token1)) return { kind: 'not_a_pool' }
  const factoryAddress = addressAt(factory, 0)
  const deployment = chain.deployments.find(each => each.factoryAddress === factoryAddress)
  if (deployment === undefined) {
    const named = chain.unpricedFactories?.find(each => each.factoryAddress === factoryAddress)
    return { kind: 'unsupported', factory: factoryAddress, family: named?.family ?? null }
  }
  const feePpm = deployment.family === 'amm_v3' && isWord(fee) ? Number(uintAt(fee, 0)) : 0
  const found = await lookUp(
    rpc,
    deployment,
    addressAt(token0, 0),
    addressAt(token1, 0),
    feePpm,
    block,
    signal,
  )
  // The contract may claim any factory; only the factory's own word counts.
  return found?.address === pool ? { kind: 'pool', pool: found } : { kind: 'not_a_pool' }
}

const tiersOf = (deployment: DeploymentConfig): readonly number[] =>
  deployment.family === 'amm_v2' ? [0] : deployment.feeTiers

async function lookUp(
  rpc: ChainRpc,
  deployment: DeploymentConfig,
  a: Address,
  b: Address,
  feePpm: number,
  block: BlockRef,
  signal: AbortSignal,
): Promise<NewPool | null> {
  const [token0, token1] = a < b ? [a, b] : [b, a]
  const pair = [encodeAddress(token0), encodeAddress(token1)]
  const data =
    deployment.family === 'amm_v2'
      ? callData(SELECTOR['getPair(address,address)'], ...pair)
      : callData(SELECTOR['getPool(address,address,uint24)'], ...pair, encodeInt(BigInt(feePpm)))
  const answer = await rpc.call(deployment.factoryAddress, data, block.hash, signal)
  if (!isWord(answer)) return null
  const address = addressAt(answer, 0)
  if (address === NO_POOL) return null
  const expected = poolAddress(deployment, token0, token1, feePpm)
  if (expected !== null && expected !== address) return null
  const { deploymentId } = deployment
  if (deployment.family === 'amm_v2') {
    const fee = {
      family: 'amm_v2',
      numerator: BigInt(deployment.fee.numerator),
      denominator: BigInt(deployment.fee.denominator),
    } as const
    return { address, deploymentId, token0, token1, fee }
  }
  const spacing = await rpc.call(address, SELECTOR['tickSpacing()'], block.hash, signal)
  if (!isWord(spacing)) return null
  return {
    address,
    deploymentId,
    token0,
    token1,
    fee: { family: 'amm_v3', feePpm: BigInt(feePpm), tickSpacing: tick(smallInt(spacing)) },
  }
}

const isWord = (answer: Hex | null): answer is Hex => answer !== null && wordCount(answer) >= 1
