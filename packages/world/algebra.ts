/** Algebra v1 on a local chain: the published deployer, factory and pools. */
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  isAddressEqual,
  keccak256,
  parseAbiParameters,
  parseEventLogs,
} from 'viem'
import { type Client, DEV_ACCOUNT, send } from './client.ts'
import { algebraFactoryAbi } from './contracts/abi.ts'
import { deploy } from './deploy.ts'
import { algebraDeployerCode, algebraFactoryCode } from './published.ts'

/** Of QuickSwap v3 on chain 137; every pool's address follows from it and the deployer. */
export const ALGEBRA_POOL_INIT_CODE_HASH: Hex =
  '0x6ec6c9c8091d160c0aa74b2b14ba9c1717e95093bd3ac085cee99a49aab294a4'

export type AlgebraFactory = { readonly factory: Address; readonly deployer: Address }

export async function deployAlgebraFactory(client: Client): Promise<AlgebraFactory> {
  const deployer = await deploy(client, algebraDeployerCode())
  const args = encodeAbiParameters(parseAbiParameters('address, address'), [deployer, DEV_ACCOUNT])
  const factory = await deploy(client, `${algebraFactoryCode()}${args.slice(2)}`)
  const data = encodeFunctionData({ abi: algebraFactoryAbi, functionName: 'setFactory', args: [factory] })
  await send(client, { to: deployer, data })
  return { factory, deployer }
}

/** Creates the pool of a pair and holds its address against CREATE2 with the live init code hash. */
export async function createAlgebraPool(
  client: Client,
  { factory, deployer }: AlgebraFactory,
  tokens: readonly [Address, Address],
): Promise<Address> {
  const data = encodeFunctionData({ abi: algebraFactoryAbi, functionName: 'createPool', args: tokens })
  const receipt = await send(client, { to: factory, data })
  const created = parseEventLogs({ abi: algebraFactoryAbi, eventName: 'Pool', logs: receipt.logs })[0]?.args
  if (created === undefined) throw new Error(`createPool of ${factory} left no Pool`)
  const { token0, token1, pool } = created
  const salt = keccak256(encodeAbiParameters(parseAbiParameters('address, address'), [token0, token1]))
  const expected = getCreate2Address({ from: deployer, salt, bytecodeHash: ALGEBRA_POOL_INIT_CODE_HASH })
  if (!isAddressEqual(pool, expected)) throw new Error(`pool at ${pool}, CREATE2 says ${expected}`)
  return pool
}
