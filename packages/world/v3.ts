/**
 * Uniswap v3 on a local chain: the published factory, at any required address, and its pools.
 */
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
  type TransactionReceipt,
} from 'viem'
import { type Client, send } from './client.ts'
import { v3FactoryAbi, v3PoolAbi } from './contracts/abi.ts'
import { deploy, type Origin, type Site } from './deploy.ts'
import { v3FactoryCode, v3PoolCode } from './published.ts'

export type V3Pool = {
  readonly address: Address
  readonly factory: Address
  readonly token0: Address
  readonly token1: Address
  readonly feePpm: number
  readonly tickSpacing: number
}

/** On chains 1, 42161 and 137 this account's first transaction created 0x1F98431c8aD98523631AE4a59f267346ea31F984. */
export const V3_FACTORY_ORIGIN: Origin = { deployer: '0x6C9FC64A53c1b71FB3f9Af64d1ae3A4931A5f4E9', nonce: 0 }

/** The hash on the live chains; every pool's address follows from it. */
export const V3_POOL_INIT_CODE_HASH: Hex =
  '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'

/** The factory belongs to the account that runs its constructor. It knows the fees 500, 3000 and 10000. */
export function deployV3Factory(client: Client, site: Site = V3_FACTORY_ORIGIN): Promise<Address> {
  return deploy(client, v3FactoryCode(), site)
}

/** Adds a fee tier, as the factory's owner. A tier can be neither changed nor removed. */
export async function enableFeeAmount(
  client: Client,
  factory: Address,
  feePpm: number,
  tickSpacing: number,
): Promise<void> {
  const from = await client.readContract({ address: factory, abi: v3FactoryAbi, functionName: 'owner' })
  const args = [feePpm, tickSpacing] as const
  await send(client, {
    from,
    to: factory,
    data: encodeFunctionData({ abi: v3FactoryAbi, functionName: 'enableFeeAmount', args }),
  })
}

/** Creates a pool and checks its address against CREATE2 with the live chains' init code hash. */
export async function createV3Pool(
  client: Client,
  factory: Address,
  tokens: readonly [Address, Address],
  feePpm: number,
): Promise<V3Pool> {
  const args = [...tokens, feePpm] as const
  const receipt = await send(client, {
    to: factory,
    data: encodeFunctionData({ abi: v3FactoryAbi, functionName: 'createPool', args }),
  })
  const created = parseEventLogs({ abi: v3FactoryAbi, eventName: 'PoolCreated', logs: receipt.logs })[0]?.args
  if (created === undefined) throw new Error(`createPool of ${factory} left no PoolCreated`)
  const { token0, token1, tickSpacing, pool: address } = created
  const expected = v3PoolAddress(factory, token0, token1, feePpm)
  if (!isAddressEqual(address, expected)) throw new Error(`pool at ${address}, CREATE2 says ${expected}`)
  return { address, factory, token0, token1, feePpm, tickSpacing }
}

export function initialiseV3Pool(
  client: Client,
  pool: V3Pool,
  sqrtPriceX96: bigint,
): Promise<TransactionReceipt> {
  const args = [sqrtPriceX96] as const
  return send(client, {
    to: pool.address,
    data: encodeFunctionData({ abi: v3PoolAbi, functionName: 'initialize', args }),
  })
}

/** The salt is the padded encoding of the key; v2's is packed. */
export function v3PoolAddress(factory: Address, token0: Address, token1: Address, feePpm: number): Address {
  const key = encodeAbiParameters(parseAbiParameters('address, address, uint24'), [token0, token1, feePpm])
  return getCreate2Address({ from: factory, salt: keccak256(key), bytecodeHash: V3_POOL_INIT_CODE_HASH })
}

/**
 * The hash of the pool that `@uniswap/v3-core` would create: if it differs from V3_POOL_INIT_CODE_HASH, the package
 * is not the real one.
 */
export const publishedV3PoolInitCodeHash = (): Hex => keccak256(v3PoolCode())
