/**
 * Uniswap v4 on a local chain: the published PoolManager at its address on each chain, its pools, and the hooks of
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
  toHex,
  type TransactionReceipt,
  zeroAddress,
  zeroHash,
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

/** As the fee in a pool's key: the hook decides. */
export const V4_DYNAMIC_FEE = 0x800000

type Birth = { readonly from: Address; readonly salt: Hex; readonly owner: Address }

/**
 * The deployer that exists at this address on nearly every chain, used without a salt: only the owner changes the
 * result.
 */
const usual = (owner: Address): Birth => ({
  from: '0x4e59b44847b379578588920cA78FbF26c0B4956C',
  salt: zeroHash,
  owner,
})

/**
 * How the manager of each chain was created. The account that runs the constructor gets no rights; the owner is its
 * argument: Uniswap's timelock on chain 1, where the salt is the winner of a contest, and that timelock's
 * representative on the others.
 */
const BIRTHS: Readonly<Record<number, Birth>> = {
  1: {
    from: '0x48E516B34A1274f49457b9C6182097796D0498Cb',
    salt: '0x72bed203c9a5eff37e1f55be91f742def6e0e5c7bd40398de517b6047b87ee78',
    owner: '0x1a9C8182C09F50C8318d769245beA52c32BE35BC',
  },
  10: usual('0xa1dD330d602c32622AA270Ea73d078B803Cb3518'),
  56: usual('0x341c1511141022cf8eE20824Ae0fFA3491F1302b'),
  137: usual('0x8a1B966aC46F42275860f905dbC75EfBfDC12374'),
  8453: usual('0x31FAfd4889FA1269F7a13A66eE0fB458f27D72A9'),
  42_161: usual('0x2BAD8182C09F50c8318d769245beA52C32Be46CD'),
  43_114: usual('0xeb0BCF27D1Fb4b25e708fBB815c421Aeb51eA9fc'),
}

/** The address of the published code on a chain; on chain 1, 0x000000000004444c5dc75cB358380D2e3dE08A90. */
export function v4ManagerAddress(chainId = 1): Address {
  const { from, salt, owner } = birthOn(chainId)
  return getCreate2Address({ from, salt, bytecodeHash: keccak256(managerCode(owner)) })
}

/** Deploys the manager of a chain, by default chain 1, at its address there. */
export function deployV4Manager(
  client: Client,
  { chainId = 1, site = v4ManagerAddress(chainId) }: { chainId?: number; site?: Site } = {},
): Promise<Address> {
  return deploy(client, managerCode(birthOn(chainId).owner), site)
}

function birthOn(chainId: number): Birth {
  const birth = BIRTHS[chainId]
  if (birth === undefined) throw new Error(`no manager of Uniswap v4 is known on chain ${chainId}`)
  return birth
}

/** An address based on `base` whose lowest bits are exactly these flags. */
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

type Place = { readonly manager: Address; readonly id: Hex }

/**
 * A pool's state read with `extsload`: slot 6 maps its id to price, tick and fees in one word; its liquidity is three
 * slots later.
 */
export async function readV4Slot(client: Client, place: Place) {
  const base = baseOf(place)
  const [slot = 0n, liquidity = 0n] = await load(client, place, [base, base + 3n])
  return {
    sqrtPriceX96: BigInt.asUintN(160, slot),
    tick: Number(BigInt.asIntN(24, slot >> 160n)),
    liquidity,
  }
}

/** The liquidity of all positions that end at a tick. */
export async function readV4TickGross(client: Client, place: Place, tick: number): Promise<bigint> {
  const key = parseAbiParameters('int256, uint256')
  const slot = keccak256(encodeAbiParameters(key, [BigInt(tick), baseOf(place) + 4n]))
  const [info = 0n] = await load(client, place, [BigInt(slot)])
  return BigInt.asUintN(128, info)
}

const baseOf = ({ id }: Place): bigint =>
  BigInt(keccak256(encodeAbiParameters(parseAbiParameters('bytes32, uint256'), [id, 6n])))

async function load(client: Client, { manager }: Place, slots: readonly bigint[]): Promise<bigint[]> {
  const args = [slots.map(slot => toHex(slot, { size: 32 }))] as const
  const words = await client.readContract({
    address: manager,
    abi: v4ManagerAbi,
    functionName: 'extsload',
    args,
  })
  return words.map(BigInt)
}

/** Creates a pool at a price and checks its id against the hash of its key. */
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

/** Sets the protocol's share in each direction, at most 1000 ppm, as the controller named by the owner. */
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
