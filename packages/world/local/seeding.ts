/**
 * A chain of the plan made real: tokens and price feeds deployed, factories at their own addresses, pools created,
 * initialised and filled by a trader that never runs dry.
 */
import { type Address, encodeFunctionData, getAddress } from 'viem'
import { type Client, send } from '../client.ts'
import { priceFeedAbi } from '../contracts/abi.ts'
import { deployPriceFeed, deployToken, deployTrader } from '../deploy.ts'
import * as trader from '../trader.ts'
import { createV2Pair, deployV2Factory, V2_FACTORY_ORIGIN, V2_PAIR_INIT_CODE_HASH } from '../v2.ts'
import { createV3Pool, deployV3Factory, initialiseV3Pool, V3_FACTORY_ORIGIN } from '../v3.ts'
import type { ChainPlan, DeploymentPlan, PoolPlan, TokenPlan } from './plan.ts'
import { priceOf, sqrtPriceX96, tickOf, unitsOf } from './valuation.ts'

export type WorldPool = {
  readonly address: Address
  readonly family: 'amm_v2' | 'amm_v3'
  readonly deployment: string
  readonly token0: TokenPlan
  readonly token1: TokenPlan
}
export type SeededChain = {
  readonly trader: Address
  readonly feeds: Readonly<Record<string, Address>>
  readonly pools: readonly WorldPool[]
}

const GAS = 25_000_000n
/** Ticks to each side: a wide band of nearly three times the price, and a narrow one that holds most. */
const WIDE = 10_000
const NARROW = 1200
const FEED_DECIMALS = 8

export async function seedChain(client: Client, plan: ChainPlan, nowS: number): Promise<SeededChain> {
  for (const token of plan.tokens) await deployToken(client, token, token.address)
  const traderAddress = await deployTrader(client)
  await trader.fund(
    client,
    traderAddress,
    plan.tokens.map(token => token.address),
  )
  const feeds: Record<string, Address> = {}
  for (const stable of plan.tokens.filter(token => token.role === 'STABLE')) {
    feeds[stable.symbol] = await deployPriceFeed(client, {
      description: `${stable.symbol} / USD`,
      decimals: FEED_DECIMALS,
    })
    await setAnswer(client, feeds[stable.symbol] as Address, 1, nowS)
  }
  const factories = new Map<string, Address>()
  for (const deployment of plan.deployments)
    factories.set(deployment.id, await deployFactory(client, deployment))
  const pools: WorldPool[] = []
  for (const pool of plan.pools) pools.push(await makePool(client, plan, pool, traderAddress, factories))
  return { trader: traderAddress, feeds, pools }
}

/** The answer of a stable's feed, in dollars. */
export async function setAnswer(client: Client, feed: Address, usd: number, nowS: number): Promise<void> {
  const answer = BigInt(Math.round(usd * 10 ** FEED_DECIMALS))
  await send(client, {
    to: feed,
    data: encodeFunctionData({ abi: priceFeedAbi, functionName: 'setAnswer', args: [answer, BigInt(nowS)] }),
  })
}

async function deployFactory(client: Client, { family, factory }: DeploymentPlan): Promise<Address> {
  if (family === 'amm_v3')
    return deployV3Factory(
      client,
      factory === '0x1F98431c8aD98523631AE4a59f267346ea31F984' ? V3_FACTORY_ORIGIN : factory,
    )
  const isOriginal = factory === '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f'
  return (await deployV2Factory(client, isOriginal ? V2_FACTORY_ORIGIN : factory)).address
}

async function makePool(
  client: Client,
  plan: ChainPlan,
  pool: PoolPlan,
  traderAddress: Address,
  factories: ReadonlyMap<string, Address>,
): Promise<WorldPool> {
  const [a, b] = pool.pair.map(symbol => plan.tokens.find(token => token.symbol === symbol) as TokenPlan) as [
    TokenPlan,
    TokenPlan,
  ]
  const [token0, token1] = a.address.toLowerCase() < b.address.toLowerCase() ? [a, b] : [b, a]
  const { family } = plan.deployments.find(each => each.id === pool.deployment) as DeploymentPlan
  const factory = factories.get(pool.deployment) as Address
  const pair = [getAddress(token0.address), getAddress(token1.address)] as const
  if (family === 'amm_v2') {
    const created = await createV2Pair(
      client,
      { address: factory, pairInitCodeHash: V2_PAIR_INIT_CODE_HASH },
      pair,
    )
    await trader.batch(
      client,
      traderAddress,
      [trader.addV2(created.address, unitsOf(token0, pool.usd), unitsOf(token1, pool.usd))],
      GAS,
    )
    return { address: created.address, family, deployment: pool.deployment, token0, token1 }
  }
  const created = await createV3Pool(client, factory, pair, pool.feePpm as number)
  const price = priceOf(token0, token1)
  await initialiseV3Pool(client, created, sqrtPriceX96(price))
  const snap = (tick: number) => Math.round(tick / created.tickSpacing) * created.tickSpacing
  const centre = tickOf(price)
  const liquidity = (usd: number, width: number) => {
    const root = Math.sqrt(price)
    const amount1 = Number(unitsOf(token1, usd))
    return BigInt(Math.floor(amount1 / (root - root * 1.0001 ** (-width / 2))))
  }
  const bands = [
    trader.mintV3(created.address, snap(centre - WIDE), snap(centre + WIDE), liquidity(pool.usd * 0.4, WIDE)),
    trader.mintV3(
      created.address,
      snap(centre - NARROW),
      snap(centre + NARROW),
      liquidity(pool.usd * 0.6, NARROW),
    ),
  ]
  for (const outcome of await trader.batch(client, traderAddress, bands, GAS))
    if (!outcome.ok) throw new Error(`liquidity of ${pool.pair.join('/')} was refused: ${outcome.reason}`)
  return { address: created.address, family, deployment: pool.deployment, token0, token1 }
}
