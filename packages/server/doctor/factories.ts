/**
 * Checks on the chain that the factories of its section are what they are taken for. A factory whose pools are deployed
 * by another contract must name that contract, because the addresses of its pools follow from it. A factory that is in
 * the built-in table only because its project publishes it must also return a pool of the chain's anchors, at the
 * address that follows and with code there. A call that the node does not answer is no fault.
 */
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import { isFeedError } from '../feed/feedError.ts'
import { SELECTOR } from '../market/abi.ts'
import { marketOf } from '../market/families.ts'
import type { Pair, Reader } from '../market/family.ts'
import { isWord } from '../market/reading.ts'
import { addressAt } from '../market/abiWords.ts'
import { UNPROVEN_FACTORIES } from '../config/chains/protocols.ts'
import type { ChainConfig, DeploymentConfig } from '../config/config.ts'
import type { Address } from '../ops/hex.ts'

const isUnproven = ({ factoryAddress }: DeploymentConfig): boolean => UNPROVEN_FACTORIES.has(factoryAddress)

/** One fault per factory, with its key in the chain's section. A factory without code is reported elsewhere. */
export async function factoryFaults(
  chain: ChainConfig,
  rpc: Pick<ChainRpc, 'call'>,
  block: BlockRef,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const reader: Reader = { rpc: { ...rpc, code: () => Promise.resolve('0x') }, block, signal }
  const faults = await Promise.all(
    chain.deployments.map(async (deployment, at) => {
      const fault = await orUnasked(
        async () => (await deployerFault(reader, deployment)) ?? (await poolFault(reader, chain, deployment)),
      )
      if (fault === null) return null
      const origin = isUnproven(deployment)
        ? '; the built-in entry of this factory is based only on its project’s documentation'
        : ''
      return `deployments[${at}].factory_address: the factory at ${deployment.factoryAddress} ${fault}${origin}; correct the entry, or remove it`
    }),
  )
  return faults.filter(each => each !== null)
}

async function orUnasked(ask: () => Promise<string | null>): Promise<string | null> {
  try {
    return await ask()
  } catch (error) {
    if (!isFeedError(error)) throw error
    return null
  }
}

async function deployerFault(
  { rpc, block, signal }: Reader,
  deployment: DeploymentConfig,
): Promise<string | null> {
  if (!('deployerAddress' in deployment)) return null
  const { factoryAddress, deployerAddress } = deployment
  const answer = await rpc.call(factoryAddress, SELECTOR['poolDeployer()'], block.hash, signal)
  const named = isWord(answer) ? addressAt(answer, 0) : null
  if (named === deployerAddress) return null
  const says =
    named === null ? 'does not name the deployer of its pools' : `names ${named} as the deployer of its pools`
  return `${says}, expected ${deployerAddress}`
}

/** The market's own look-up accepts a pool only at the address that follows, and calls the pool itself. */
async function poolFault(
  reader: Reader,
  chain: ChainConfig,
  deployment: DeploymentConfig,
): Promise<string | null> {
  if (!isUnproven(deployment)) return null
  const pairs = anchorPairs(chain)
  // One after the other: the first usually has a pool, and an endpoint may allow few calls at once.
  for (const pair of pairs)
    if ((await marketOf(deployment.family).find(reader, deployment, pair)).length > 0) return null
  return pairs.length === 0
    ? null
    : `has no pool for any of the ${pairs.length} pairs of the chain’s anchors at the derived address`
}

/** The wrapped native currency with each of the others, then the others with each other, as sorted pairs. */
function anchorPairs({ wrappedNative, stables, routingAssets }: ChainConfig): readonly Pair[] {
  const others = [...stables.map(({ tokenAddress }) => tokenAddress), ...routingAssets].filter(
    each => each !== wrappedNative,
  )
  const anchors = [wrappedNative, ...others]
  return anchors.flatMap((a, at) => anchors.slice(at + 1).map(b => sorted(a, b)))
}

const sorted = (a: Address, b: Address): Pair => (a < b ? [a, b] : [b, a])
