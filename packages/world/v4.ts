/**
 * Uniswap v4 on a local chain: the published PoolManager at mainnet's address, its pools, and the hooks of
 * v4-core's own tests.
 */
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  keccak256,
  parseAbiParameters,
  parseEventLogs,
  type TransactionReceipt,
  zeroAddress,
} from 'viem'
import { type Client, DEV_ACCOUNT, send } from './client.ts'
import { v4ManagerAbi } from './contracts/abi.ts'
import { deploy, type Site } from './deploy.ts'
import { type V4HookName, v4HookCode, v4PoolManagerCode } from './published.ts'
import type { V4PoolKey } from './trader.ts'

export type V4Pool = { readonly manager: Address; readonly id: Hex; readonly key: V4PoolKey }

/** A hook's permissions are the 14 lowest bits of its address. */
export const V4_HOOK_FLAG = {
  beforeInitialize: 1 << 13,
  afterInitialize: 1 << 12,
  beforeAddLiquidity: 1 << 11,
  afterAddLiquidity: 1 << 10,
  beforeRemoveLiquidity: 1 << 9,
  afterRemoveLiquidity: 1 << 8,
  beforeSwap: 1 << 7,
  afterSwap: 1 << 6,
  beforeDonate: 1 << 5,
  afterDonate: 1 << 4,
  beforeSwapReturnsDelta: 1 << 3,
  afterSwapReturnsDelta: 1 << 2,
  afterAddLiquidityReturnsDelta: 1 << 1,
  afterRemoveLiquidityReturnsDelta: 1,
} as const

/** In the fee of a pool's key: the hook decides. */
export const V4_DYNAMIC_FEE = 0x800000

/** Who runs mainnet's constructor becomes nothing; who it names becomes the owner: Uniswap's timelock. */
export const V4_MANAGER_OWNER: Address = '0x1a9C8182C09F50C8318d769245beA52c32BE35BC'

/** Chain 1: the contest's deployer and its best salt. */
export const V4_MANAGER_CREATE2 = {
  from: '0x48E516B34A1274f49457b9C6182097796D0498Cb',
  salt: '0x72bed203c9a5eff37e1f55be91f742def6e0e5c7bd40398de517b6047b87ee78',
} as const satisfies { readonly from: Address; readonly salt: Hex }

/** Where the published code with the timelock as its owner lands: 0x000000000004444c5dc75cB358380D2e3dE08A90. */
export const v4ManagerAddress = (): Address =>
  getCreate2Address({ ...V4_MANAGER_CREATE2, bytecodeHash: keccak256(managerCode(V4_MANAGER_OWNER)) })

export function deployV4Manager(
  client: Client,
  site: Site = v4ManagerAddress(),
  owner: Address = V4_MANAGER_OWNER,
): Promise<Address> {
  return deploy(client, managerCode(owner), site)
}

/** An address of `base` whose lowest bits are exactly these flags. */
export function v4HookAddress(base: bigint, ...flags: readonly (keyof typeof V4_HOOK_FLAG)[]): Address {
  const bits = flags.reduce((all, flag) => all | V4_HOOK_FLAG[flag], 0)
  return `0x${((base << 14n) | BigInt(bits)).toString(16).padStart(40, '0')}`
}

export function deployV4Hook(
  client: Client,
  name: V4HookName,
  manager: Address,
  address: Address,
): Promise<Address> {
  const argument = encodeAbiParameters(parseAbiParameters('address'), [manager])
  return deploy(client, concatHex([v4HookCode(name), argument]), address)
}

export const v4PoolId = (key: V4PoolKey): Hex =>
  keccak256(
    encodeAbiParameters(parseAbiParameters('address, address, uint24, int24, address'), [
      key.currency0,
      key.currency1,
      key.fee,
      key.tickSpacing,
      key.hooks,
    ]),
  )

/** Creates a pool at a price and holds its id against the hash of its key. */
export async function initialiseV4Pool(
  client: Client,
  manager: Address,
  key: V4PoolKey,
  sqrtPriceX96: bigint,
): Promise<{ readonly pool: V4Pool; readonly receipt: TransactionReceipt }> {
  const args = [key, sqrtPriceX96] as const
  const data = encodeFunctionData({ abi: v4ManagerAbi, functionName: 'initialize', args })
  const receipt = await send(client, { to: manager, data })
  const created = parseEventLogs({ abi: v4ManagerAbi, eventName: 'Initialize', logs: receipt.logs })[0]?.args
  if (created === undefined) throw new Error(`initialize of ${manager} left no Initialize`)
  const id = v4PoolId(key)
  if (created.id !== id) throw new Error(`pool ${created.id}, its key says ${id}`)
  return { pool: { manager, id, key }, receipt }
}

/** The protocol's share of each direction, at most 1000 ppm, as the controller that the owner names. */
export async function setV4ProtocolFee(
  client: Client,
  { manager, key }: V4Pool,
  zeroForOnePpm: number,
  oneForZeroPpm: number,
): Promise<TransactionReceipt> {
  const owner = await client.readContract({ address: manager, abi: v4ManagerAbi, functionName: 'owner' })
  await send(client, {
    from: owner,
    to: manager,
    data: encodeFunctionData({
      abi: v4ManagerAbi,
      functionName: 'setProtocolFeeController',
      args: [DEV_ACCOUNT],
    }),
  })
  const args = [key, zeroForOnePpm | (oneForZeroPpm << 12)] as const
  return send(client, {
    to: manager,
    data: encodeFunctionData({ abi: v4ManagerAbi, functionName: 'setProtocolFee', args }),
  })
}

/** Two currencies in the manager's order; the native one, address 0, comes first. */
export function v4Key(
  tokens: readonly [Address, Address],
  fee: number,
  tickSpacing: number,
  hooks: Address = zeroAddress,
): V4PoolKey {
  const [a, b] = tokens
  const [currency0, currency1] = BigInt(a) < BigInt(b) ? [a, b] : [b, a]
  return { currency0, currency1, fee, tickSpacing, hooks }
}

const managerCode = (owner: Address): Hex =>
  concatHex([v4PoolManagerCode(), encodeAbiParameters(parseAbiParameters('address'), [owner])])
