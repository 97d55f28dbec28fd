/**
 * PancakeSwap v3 and Algebra v1 on a local chain: the published factories and pools. A separate deployer next to each
 * factory creates its pools, and their addresses follow from the deployer. PancakeSwap's deployer is a replacement of
 * our own, because no package contains its code.
 */
import {
  type Address,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  isAddressEqual,
  keccak256,
  parseAbiParameters,
  parseEventLogs,
} from 'viem'
import { type Client, DEV_ACCOUNT, send } from './client.ts'
import { algebraFactoryAbi, poolDeployerAbi, v3FactoryAbi } from './contracts/abi.ts'
import poolDeployer from './contracts/PoolDeployer.json' with { type: 'json' }
import { deploy, type Site } from './deploy.ts'
import { algebraDeployerCode, algebraFactoryCode, pancakeFactoryCode, pancakePoolCode } from './published.ts'

/** The hash on the live chains; every pool's address follows from it and the deployer. */
export const PANCAKE_POOL_INIT_CODE_HASH: Hex =
  '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2'
/** The hash of QuickSwap v3 on chain 137. */
export const ALGEBRA_POOL_INIT_CODE_HASH: Hex =
  '0x6ec6c9c8091d160c0aa74b2b14ba9c1717e95093bd3ac085cee99a49aab294a4'

export type DeployerFactory = { readonly factory: Address; readonly deployer: Address }

type Sites = { readonly factory: Site; readonly deployer: Site }
const ANYWHERE: Sites = { factory: 'anywhere', deployer: 'anywhere' }

/** Its fees are 100, 500, 2500 and 10000. */
export async function deployPancakeFactory(
  client: Client,
  sites: Sites = ANYWHERE,
): Promise<DeployerFactory> {
  const bytecode = poolDeployer.bytecode as Hex
  const args = [pancakePoolCode()] as const
  const deployer = await deploy(
    client,
    encodeDeployData({ abi: poolDeployerAbi, bytecode, args }),
    sites.deployer,
  )
  const of = encodeAbiParameters(parseAbiParameters('address'), [deployer])
  return { deployer, factory: await deploy(client, `${pancakeFactoryCode()}${of.slice(2)}`, sites.factory) }
}

export async function deployAlgebraFactory(
  client: Client,
  sites: Sites = ANYWHERE,
): Promise<DeployerFactory> {
  const deployer = await deploy(client, algebraDeployerCode(), sites.deployer)
  const args = encodeAbiParameters(parseAbiParameters('address, address'), [deployer, DEV_ACCOUNT])
  const factory = await deploy(client, `${algebraFactoryCode()}${args.slice(2)}`, sites.factory)
  const data = encodeFunctionData({ abi: algebraFactoryAbi, functionName: 'setFactory', args: [factory] })
  await send(client, { to: deployer, data })
  return { factory, deployer }
}

export async function createPancakePool(
  client: Client,
  of: DeployerFactory,
  tokens: readonly [Address, Address],
  feePpm: number,
): Promise<Address> {
  const args = [...tokens, feePpm] as const
  const data = encodeFunctionData({ abi: v3FactoryAbi, functionName: 'createPool', args })
  const { logs } = await send(client, { to: of.factory, data })
  const created = parseEventLogs({ abi: v3FactoryAbi, eventName: 'PoolCreated', logs })[0]?.args
  const key = parseAbiParameters('address, address, uint24')
  return confirmed(of, created, PANCAKE_POOL_INIT_CODE_HASH, ({ token0, token1 }) =>
    encodeAbiParameters(key, [token0, token1, feePpm]),
  )
}

export async function createAlgebraPool(
  client: Client,
  of: DeployerFactory,
  tokens: readonly [Address, Address],
): Promise<Address> {
  const data = encodeFunctionData({ abi: algebraFactoryAbi, functionName: 'createPool', args: tokens })
  const { logs } = await send(client, { to: of.factory, data })
  const created = parseEventLogs({ abi: algebraFactoryAbi, eventName: 'Pool', logs })[0]?.args
  const key = parseAbiParameters('address, address')
  return confirmed(of, created, ALGEBRA_POOL_INIT_CODE_HASH, ({ token0, token1 }) =>
    encodeAbiParameters(key, [token0, token1]),
  )
}

type Created = { readonly token0: Address; readonly token1: Address; readonly pool: Address }

/** Checks the address of a new pool against CREATE2 with the live chains' init code hash. */
function confirmed(
  { factory, deployer }: DeployerFactory,
  created: Created | undefined,
  bytecodeHash: Hex,
  keyOf: (created: Created) => Hex,
): Address {
  if (created === undefined) throw new Error(`createPool of ${factory} left no log of a new pool`)
  const expected = getCreate2Address({ from: deployer, salt: keccak256(keyOf(created)), bytecodeHash })
  if (!isAddressEqual(created.pool, expected))
    throw new Error(`pool at ${created.pool}, CREATE2 says ${expected}`)
  return created.pool
}
