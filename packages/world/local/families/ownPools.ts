/** Families with a separate contract and ticks for each pool: Uniswap v3, PancakeSwap v3 and Algebra v1. */
import { type Address, encodeFunctionData, getAddress, type Hex } from 'viem'
import { type Client, send } from '../../client.ts'
import { algebraPoolAbi, v3PoolAbi } from '../../contracts/abi.ts'
import {
  ALGEBRA_POOL_INIT_CODE_HASH,
  createAlgebraPool,
  createPancakePool,
  deployAlgebraFactory,
  deployPancakeFactory,
  PANCAKE_POOL_INIT_CODE_HASH,
} from '../../deployerFactories.ts'
import * as trader from '../../trader.ts'
import { createV3Pool, deployV3Factory, V3_FACTORY_ORIGIN, V3_POOL_INIT_CODE_HASH } from '../../v3.ts'
import type { DeploymentPlan } from '../plan.ts'
import { priceOf, sqrtPriceX96 } from '../valuation.ts'
import { addressesOf, type Concentrated, concentrated, type Created } from './concentrated.ts'
import type { Order, WorldFamily } from './family.ts'

/** The contract of chains 1, 42161 and 137, whose address follows from its creator. */
const ORIGINAL = '0x1F98431c8aD98523631AE4a59f267346ea31F984'

const SLOT0 = encodeFunctionData({ abi: v3PoolAbi, functionName: 'slot0' })

/** The differences between them. */
type Differing = Pick<Concentrated, 'deploy' | 'config'> & {
  readonly mint: typeof trader.mintV3
  /** Price and tick come first in its answer. */
  readonly slotCall: Hex
  readonly createAt: (order: Order, pair: readonly [Address, Address]) => Promise<Address>
}

const ownPools = ({ deploy, config, mint, slotCall, createAt }: Differing): WorldFamily =>
  concentrated({
    deploy,
    config,

    async create(order): Promise<Created> {
      const { client, tokens } = order
      const [token0, token1] = tokens
      const [a, b] = addressesOf(order)
      const address = await createAt(order, [getAddress(a), getAddress(b)])
      const args = [sqrtPriceX96(priceOf(token0, token1))] as const
      const data = encodeFunctionData({ abi: v3PoolAbi, functionName: 'initialize', args })
      await send(client, { to: address, data })
      return { address, token0, token1 }
    },

    spacingOf: (client, { address }) =>
      client.readContract({ address, abi: v3PoolAbi, functionName: 'tickSpacing' }),

    async readSlot(client, { address }) {
      const [[root = 0n, tick = 0n], liquidity] = await Promise.all([
        wordsOf(client, address, slotCall),
        client.readContract({ address, abi: v3PoolAbi, functionName: 'liquidity' }),
      ])
      return { sqrtPriceX96: root, tick: Number(BigInt.asIntN(24, tick)), liquidity }
    },

    // All three return the gross liquidity first; the rest differs.
    async readGross(client, { address }, tick) {
      const data = encodeFunctionData({ abi: v3PoolAbi, functionName: 'ticks', args: [tick] })
      return (await wordsOf(client, address, data))[0] ?? 0n
    },

    modify: ({ address }, { lower, upper }, liquidity) =>
      liquidity < 0n
        ? trader.burnV3(address, lower, upper, -liquidity)
        : mint(address, lower, upper, liquidity),

    swap: ({ address }, zeroForOne, amount, limit) => trader.swapV3(address, zeroForOne, amount, limit),
  })

async function wordsOf(client: Client, to: Address, data: Hex): Promise<readonly bigint[]> {
  const answer = await client.call({ to, data })
  return (answer.data?.slice(2).match(/.{64}/g) ?? []).map(word => BigInt(`0x${word}`))
}

const deployerOf = ({ id, factory, deployer }: DeploymentPlan) => {
  if (deployer === undefined) throw new Error(`the plan names no deployer of ${id}`)
  return { factory, deployer }
}

export const uniswapV3 = ownPools({
  async deploy(client, { factory }) {
    await deployV3Factory(client, factory === ORIGINAL ? V3_FACTORY_ORIGIN : factory)
  },
  config: () => ({ init_code_hash: V3_POOL_INIT_CODE_HASH, fee_tiers: [500, 3000, 10_000] }),
  mint: trader.mintV3,
  slotCall: SLOT0,
  createAt: async ({ client, deployment, pool }, pair) =>
    (await createV3Pool(client, deployment.factory, pair, pool.feePpm as number)).address,
})

export const pancakeV3 = ownPools({
  async deploy(client, deployment) {
    await deployPancakeFactory(client, deployerOf(deployment))
  },
  config: ({ deployer }) => ({
    deployer_address: deployer,
    init_code_hash: PANCAKE_POOL_INIT_CODE_HASH,
    fee_tiers: [100, 500, 2500, 10_000],
  }),
  mint: trader.mintV3,
  slotCall: SLOT0,
  createAt: ({ client, deployment, pool }, pair) =>
    createPancakePool(client, deployerOf(deployment), pair, pool.feePpm as number),
})

export const algebraV1 = ownPools({
  async deploy(client, deployment) {
    await deployAlgebraFactory(client, deployerOf(deployment))
  },
  config: ({ deployer }) => ({ deployer_address: deployer, init_code_hash: ALGEBRA_POOL_INIT_CODE_HASH }),
  mint: trader.mintAlgebra,
  slotCall: encodeFunctionData({ abi: algebraPoolAbi, functionName: 'globalState' }),
  createAt: ({ client, deployment }, pair) => createAlgebraPool(client, deployerOf(deployment), pair),
})
