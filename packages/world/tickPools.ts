/** A pool of every family with ticks on a local chain, created and traded through one interface. */
import { type Address, encodeFunctionData, type Hex } from 'viem'
import { type Client, send } from './client.ts'
import { v3PoolAbi } from './contracts/abi.ts'
import {
  createAlgebraPool,
  createPancakePool,
  deployAlgebraFactory,
  deployPancakeFactory,
} from './deployerFactories.ts'
import { burnV3, mintAlgebra, mintV3, modifyV4, swapV3, swapV4, type V4PoolKey } from './trader.ts'
import { createV3Pool, deployV3Factory } from './v3.ts'
import { deployV4Manager, initialiseV4Pool, v4Key } from './v4.ts'

export type TickFamily = 'amm_v3' | 'amm_v3_pancake' | 'amm_algebra_v1' | 'amm_v4'

export type TickPool = {
  readonly family: TickFamily
  /** The identifier of the pool: its address, or the id under which a manager holds it. */
  readonly id: Hex
  /** The contract that holds its tokens. */
  readonly holder: Address
  readonly key: V4PoolKey | null
  readonly feePpm: number
  readonly tickSpacing: number
  add(lower: number, upper: number, liquidity: bigint): Hex
  remove(lower: number, upper: number, liquidity: bigint): Hex
  /** Positive is exact input, negative exact output. */
  swap(zeroForOne: boolean, amount: bigint, sqrtPriceX96?: bigint): Hex
}

export type TickPools = {
  readonly family: TickFamily
  /** Creates a pool at a price, with the usual fee of the family. */
  create(tokens: readonly [Address, Address], sqrtPriceX96: bigint): Promise<TickPool>
}

/** The contract that creates a family's pools, and the one that it leaves this to, where there is one. */
export type TickSource = {
  readonly family: TickFamily
  readonly factory: Address
  readonly deployer?: Address
}

/** A pool to create; a family that fixes fee and spacing itself ignores them. */
type Order = {
  readonly source: TickSource
  readonly tokens: readonly [Address, Address]
  readonly sqrtPriceX96: bigint
  readonly feePpm: number
  readonly tickSpacing: number
}

type Create = (client: Client, order: Order) => Promise<TickPool>

/** The initial values of an Algebra pool; its fee changes with volatility. */
const ALGEBRA = { feePpm: 100, tickSpacing: 60 } as const

const CREATE: Readonly<Record<TickFamily, Create>> = {
  async amm_v3(client, { source: { factory }, tokens, ...order }) {
    const { address, feePpm, tickSpacing } = await createV3Pool(client, factory, tokens, order.feePpm)
    return begun(client, 'amm_v3', address, order.sqrtPriceX96, { feePpm, tickSpacing }, mintV3)
  },
  async amm_v3_pancake(client, { source, tokens, sqrtPriceX96, feePpm, tickSpacing }) {
    const pool = await createPancakePool(client, deployerOf(source), tokens, feePpm)
    return begun(client, 'amm_v3_pancake', pool, sqrtPriceX96, { feePpm, tickSpacing }, mintV3)
  },
  async amm_algebra_v1(client, { source, tokens, sqrtPriceX96 }) {
    const pool = await createAlgebraPool(client, deployerOf(source), tokens)
    return begun(client, 'amm_algebra_v1', pool, sqrtPriceX96, ALGEBRA, mintAlgebra)
  },
  async amm_v4(client, { source: { factory }, tokens, sqrtPriceX96, feePpm, tickSpacing }) {
    const key = v4Key(tokens, feePpm, tickSpacing)
    const { pool } = await initialiseV4Pool(client, factory, key, sqrtPriceX96)
    return managed(factory, pool.id, key)
  },
}

/** Creates a pool of any family with ticks at a price, without liquidity. */
export const createTickPool: Create = (client, order) => CREATE[order.source.family](client, order)

/** PancakeSwap has 2500 instead of 3000. */
const USUAL: Readonly<Record<TickFamily, Pick<Order, 'feePpm' | 'tickSpacing'>>> = {
  amm_v3: { feePpm: 3000, tickSpacing: 60 },
  amm_v3_pancake: { feePpm: 2500, tickSpacing: 50 },
  amm_algebra_v1: ALGEBRA,
  amm_v4: { feePpm: 3000, tickSpacing: 60 },
}

/** Deploys the contracts that create the pools of each family. */
export async function deployTickFamilies(client: Client): Promise<readonly TickPools[]> {
  const sources: readonly TickSource[] = [
    { family: 'amm_v3', factory: await deployV3Factory(client, 'anywhere') },
    { family: 'amm_v3_pancake', ...(await deployPancakeFactory(client)) },
    { family: 'amm_algebra_v1', ...(await deployAlgebraFactory(client)) },
    { family: 'amm_v4', factory: await deployV4Manager(client) },
  ]
  return sources.map(source => ({
    family: source.family,
    create: (tokens, sqrtPriceX96) =>
      createTickPool(client, { source, tokens, sqrtPriceX96, ...USUAL[source.family] }),
  }))
}

function deployerOf({ family, factory, deployer }: TickSource) {
  if (deployer === undefined) throw new Error(`${family}: the factory ${factory} needs a deployer`)
  return { factory, deployer }
}

async function begun(
  client: Client,
  family: TickFamily,
  pool: Address,
  sqrtPriceX96: bigint,
  terms: { readonly feePpm: number; readonly tickSpacing: number },
  mint: typeof mintV3,
): Promise<TickPool> {
  const data = encodeFunctionData({ abi: v3PoolAbi, functionName: 'initialize', args: [sqrtPriceX96] })
  await send(client, { to: pool, data })
  return contract(family, pool, terms, mint)
}

function contract(
  family: TickFamily,
  address: Address,
  terms: { readonly feePpm: number; readonly tickSpacing: number },
  mint: typeof mintV3,
): TickPool {
  return {
    family,
    id: address,
    holder: address,
    key: null,
    ...terms,
    add: (lower, upper, liquidity) => mint(address, lower, upper, liquidity),
    remove: (lower, upper, liquidity) => burnV3(address, lower, upper, liquidity),
    swap: (zeroForOne, amount, sqrtPriceX96) => swapV3(address, zeroForOne, amount, sqrtPriceX96),
  }
}

const managed = (manager: Address, id: Hex, key: V4PoolKey): TickPool => ({
  family: 'amm_v4',
  id,
  holder: manager,
  key,
  feePpm: key.fee,
  tickSpacing: key.tickSpacing,
  add: (lower, upper, liquidity) => modifyV4(manager, key, lower, upper, liquidity),
  remove: (lower, upper, liquidity) => modifyV4(manager, key, lower, upper, -liquidity),
  swap: (zeroForOne, amount, sqrtPriceX96) => swapV4(manager, key, zeroForOne, amount, sqrtPriceX96),
})
