/**
 * A chain of the plan made real: tokens and price feeds deployed, factories at their own addresses, pools created,
 * initialised and filled by a trader that never runs dry.
 */
import { type Address, encodeFunctionData, getAddress } from 'viem'
import { type Client, send } from '../client.ts'
import { priceFeedAbi } from '../contracts/abi.ts'
import { deployPriceFeed, deployProxiedToken, deployToken, deployTrader } from '../deploy.ts'
import { deployOddToken } from '../oddTokens.ts'
import * as trader from '../trader.ts'
import { createV2Pair, deployV2Factory, V2_FACTORY_ORIGIN, V2_PAIR_INIT_CODE_HASH } from '../v2.ts'
import { createV3Pool, deployV3Factory, initialiseV3Pool, V3_FACTORY_ORIGIN } from '../v3.ts'
import { type ChainPlan, type DeploymentPlan, type PoolPlan, type TokenPlan, tokenOf } from './plan.ts'
import { liquidityWorth, priceOf, sqrtPriceX96, tickOf, unitsOf } from './valuation.ts'

export type WorldPool = {
  readonly address: Address
  readonly family: 'amm_v2' | 'amm_v3'
  readonly deployment: string
  readonly token0: TokenPlan
  readonly token1: TokenPlan
  /** Of a v3 pool: the bands the trader holds liquidity in. */
  readonly bands: readonly { readonly lower: number; readonly upper: number }[]
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
/** A day: readers ask for an hour. */
const SEQUENCER_UP_S = 86_400

export async function seedChain(client: Client, plan: ChainPlan, nowS: number): Promise<SeededChain> {
  for (const token of plan.tokens)
    if (token.odd !== undefined) await deployOddToken(client, token.odd, token.address)
    else await (token.isProxied === true ? deployProxiedToken : deployToken)(client, token, token.address)
  const traderAddress = await deployTrader(client)
  await trader.fund(
    client,
    traderAddress,
    plan.tokens.map(token => token.address),
  )
  const feeds: Record<string, Address> = {}
  for (const stable of plan.tokens.filter(token => token.role === 'STABLE')) {
    const feed = { description: `${stable.symbol} / USD`, decimals: FEED_DECIMALS }
    feeds[stable.symbol] = await deployPriceFeed(client, feed, stable.feed)
    await setAnswer(client, feeds[stable.symbol] as Address, 1, nowS)
  }
  if (plan.sequencerFeed !== undefined) await deploySequencerFeed(client, plan.sequencerFeed, nowS)
  const factories = new Map<string, Address>()
  for (const deployment of plan.deployments)
    factories.set(deployment.id, await deployFactory(client, deployment))
  const pools: WorldPool[] = []
  for (const pool of plan.pools)
    pools.push(await makePool(client, plan, pool, { trader: traderAddress, factories, gas: GAS }))
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

/** Up since long enough for its grace to be over. */
async function deploySequencerFeed(client: Client, address: Address, nowS: number): Promise<void> {
  await deployPriceFeed(client, { description: 'L2 Sequencer Uptime Status Feed', decimals: 0 }, address)
  const args = [0n, BigInt(nowS - SEQUENCER_UP_S), BigInt(nowS)] as const
  const data = encodeFunctionData({ abi: priceFeedAbi, functionName: 'setRound', args })
  await send(client, { to: address, data })
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

/** The trader that fills a pool, the factories by deployment id, and the gas limit of a transaction. */
export type PoolMakers = {
  readonly trader: Address
  readonly factories: ReadonlyMap<string, Address>
  readonly gas: bigint
}

export async function makePool(
  client: Client,
  plan: ChainPlan,
  pool: PoolPlan,
  { trader: traderAddress, factories, gas }: PoolMakers,
): Promise<WorldPool> {
  const [a, b] = pool.pair.map(symbol => tokenOf(plan, symbol)) as [TokenPlan, TokenPlan]
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
      gas,
    )
    return { address: created.address, family, deployment: pool.deployment, token0, token1, bands: [] }
  }
  const created = await createV3Pool(client, factory, pair, pool.feePpm as number)
  const price = priceOf(token0, token1)
  await initialiseV3Pool(client, created, sqrtPriceX96(price))
  const snap = (tick: number) => Math.round(tick / created.tickSpacing) * created.tickSpacing
  const centre = tickOf(price)
  const bands = [
    {
      lower: snap(centre - WIDE),
      upper: snap(centre + WIDE),
      liquidity: liquidityWorth(token1, price, pool.usd * 0.4, WIDE),
    },
    {
      lower: snap(centre - NARROW),
      upper: snap(centre + NARROW),
      liquidity: liquidityWorth(token1, price, pool.usd * 0.6, NARROW),
    },
  ]
  const mints = bands.map(band => trader.mintV3(created.address, band.lower, band.upper, band.liquidity))
  for (const outcome of await trader.batch(client, traderAddress, mints, gas))
    if (!outcome.ok) throw new Error(`liquidity of ${pool.pair.join('/')} was refused: ${outcome.reason}`)
  return {
    address: created.address,
    family,
    deployment: pool.deployment,
    token0,
    token1,
    bands: bands.map(({ lower, upper }) => ({ lower, upper })),
  }
}
