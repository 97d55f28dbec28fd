/**
 * Constant-product pairs on a local chain: the published Uniswap v2 factory, or another of its shape, and
 * its pairs.
 */
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  getCreate2Address,
  type Hex,
  isAddressEqual,
  keccak256,
  parseAbiParameters,
  parseEventLogs,
} from 'viem'
import { type Client, DEV_ACCOUNT, send } from './client.ts'
import { v2FactoryAbi } from './contracts/abi.ts'
import { deploy, type Origin, type Site } from './deploy.ts'
import { v2FactoryCode, v2PairCode } from './published.ts'

/** A factory whose constructor takes the fee setter, and the pair it creates. */
export type V2Code = { readonly factory: Hex; readonly pair: Hex }

export type V2Factory = { readonly address: Address; readonly pairInitCodeHash: Hex }

export type V2Pair = {
  readonly address: Address
  readonly factory: Address
  readonly token0: Address
  readonly token1: Address
}

/** On chain 1 this account's first transaction created 0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f. */
export const V2_FACTORY_ORIGIN: Origin = { deployer: '0x9C33eaCc2F50E39940D3AfaF2c7B8246B681A374', nonce: 0 }

/** The hash on the live chains; every pair's address follows from it. */
export const V2_PAIR_INIT_CODE_HASH: Hex =
  '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f'

export const uniswapV2Code = (): V2Code => ({ factory: v2FactoryCode(), pair: v2PairCode() })

/** The fee setter is anvil's first account. */
export async function deployV2Factory(
  client: Client,
  site: Site = V2_FACTORY_ORIGIN,
  code: V2Code = uniswapV2Code(),
): Promise<V2Factory> {
  const argument = encodeAbiParameters(parseAbiParameters('address'), [DEV_ACCOUNT])
  const address = await deploy(client, concatHex([code.factory, argument]), site)
  return { address, pairInitCodeHash: keccak256(code.pair) }
}

/** Creates a pair and checks its address against CREATE2. */
export async function createV2Pair(
  client: Client,
  factory: V2Factory,
  tokens: readonly [Address, Address],
): Promise<V2Pair> {
  const receipt = await send(client, {
    to: factory.address,
    data: encodeFunctionData({ abi: v2FactoryAbi, functionName: 'createPair', args: tokens }),
  })
  const created = parseEventLogs({ abi: v2FactoryAbi, eventName: 'PairCreated', logs: receipt.logs })[0]?.args
  if (created === undefined) throw new Error(`createPair of ${factory.address} left no PairCreated`)
  const { token0, token1, pair: address } = created
  const expected = v2PairAddress(factory, token0, token1)
  if (!isAddressEqual(address, expected)) throw new Error(`pair at ${address}, CREATE2 says ${expected}`)
  return { address, factory: factory.address, token0, token1 }
}

/** The salt is the packed key; v3's is padded. */
export function v2PairAddress(factory: V2Factory, token0: Address, token1: Address): Address {
  const salt = keccak256(encodePacked(['address', 'address'], [token0, token1]))
  return getCreate2Address({ from: factory.address, salt, bytecodeHash: factory.pairInitCodeHash })
}
