/**
 * PancakeSwap v3 on a local chain: the published factory and pools, made by a deployer of our own in place of theirs, whose
 * code no package carries.
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
import { type Client, send } from './client.ts'
import { poolDeployerAbi, v3FactoryAbi } from './contracts/abi.ts'
import poolDeployer from './contracts/PoolDeployer.json' with { type: 'json' }
import { deploy } from './deploy.ts'
import { pancakeFactoryCode, pancakePoolCode } from './published.ts'

/** Of the live chains; every pool's address follows from it and the deployer. */
export const PANCAKE_POOL_INIT_CODE_HASH: Hex =
  '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2'

export type PancakeFactory = { readonly factory: Address; readonly deployer: Address }

/** Its fees are 100, 500, 2500 and 10000. */
export async function deployPancakeFactory(client: Client): Promise<PancakeFactory> {
  const args = [pancakePoolCode()] as const
  const bytecode = poolDeployer.bytecode as Hex
  const deployer = await deploy(client, encodeDeployData({ abi: poolDeployerAbi, bytecode, args }))
  const of = encodeAbiParameters(parseAbiParameters('address'), [deployer])
  return { deployer, factory: await deploy(client, `${pancakeFactoryCode()}${of.slice(2)}`) }
}

/** Creates a pool and holds its address against CREATE2 with the live chains' init code hash. */
export async function createPancakePool(
  client: Client,
  { factory, deployer }: PancakeFactory,
  tokens: readonly [Address, Address],
  feePpm: number,
): Promise<Address> {
  const data = encodeFunctionData({
    abi: v3FactoryAbi,
    functionName: 'createPool',
    args: [...tokens, feePpm],
  })
  const receipt = await send(client, { to: factory, data })
  const created = parseEventLogs({ abi: v3FactoryAbi, eventName: 'PoolCreated', logs: receipt.logs })[0]?.args
  if (created === undefined) throw new Error(`createPool of ${factory} left no PoolCreated`)
  const { token0, token1, pool } = created
  const key = encodeAbiParameters(parseAbiParameters('address, address, uint24'), [token0, token1, feePpm])
  const bytecodeHash = PANCAKE_POOL_INIT_CODE_HASH
  const expected = getCreate2Address({ from: deployer, salt: keccak256(key), bytecodeHash })
  if (!isAddressEqual(pool, expected)) throw new Error(`pool at ${pool}, CREATE2 says ${expected}`)
  return pool
}
