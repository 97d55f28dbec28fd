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

const FEE_PPM = 3000
const SPACING = 60
/** PancakeSwap has 2500 instead of 3000. */
const PANCAKE = { feePpm: 2500, tickSpacing: 50 } as const
/** The initial values of an Algebra pool; its fee changes with volatility. */
const ALGEBRA = { feePpm: 100, tickSpacing: 60 } as const

/** Deploys the contracts that create the pools of each family. */
export async function deployTickFamilies(client: Client): Promise<readonly TickPools[]> {
  const v3 = await deployV3Factory(client, 'anywhere')
  const pancake = await deployPancakeFactory(client)
  const algebra = await deployAlgebraFactory(client)
  const manager = await deployV4Manager(client)
  const begin = async (pool: Address, sqrtPriceX96: bigint): Promise<Address> => {
    const data = encodeFunctionData({ abi: v3PoolAbi, functionName: 'initialize', args: [sqrtPriceX96] })
    await send(client, { to: pool, data })
    return pool
  }
  return [
    {
      family: 'amm_v3',
      async create(tokens, price) {
        const { address, feePpm, tickSpacing } = await createV3Pool(client, v3, tokens, FEE_PPM)
        return contract('amm_v3', await begin(address, price), { feePpm, tickSpacing }, mintV3)
      },
    },
    {
      family: 'amm_v3_pancake',
      async create(tokens, price) {
        const pool = await createPancakePool(client, pancake, tokens, PANCAKE.feePpm)
        return contract('amm_v3_pancake', await begin(pool, price), PANCAKE, mintV3)
      },
    },
    {
      family: 'amm_algebra_v1',
      async create(tokens, price) {
        const pool = await createAlgebraPool(client, algebra, tokens)
        return contract('amm_algebra_v1', await begin(pool, price), ALGEBRA, mintAlgebra)
      },
    },
    {
      family: 'amm_v4',
      async create(tokens, price) {
        const key = v4Key(tokens, FEE_PPM, SPACING)
        const { pool } = await initialiseV4Pool(client, manager, key, price)
        return managed(manager, pool.id, key)
      },
    },
  ]
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
