/**
 * Turns a planned chain into a real one: tokens and price feeds deployed, factories at their own addresses, pools
 * created, initialised and filled by a trader that never runs out of funds.
 */
import { type Address, encodeFunctionData } from 'viem'
import { type Client, send } from '../client.ts'
import { priceFeedAbi } from '../contracts/abi.ts'
import { deployPriceFeed, deployProxiedToken, deployToken, deployTrader } from '../deploy.ts'
import { deployOddToken } from '../oddTokens.ts'
import * as trader from '../trader.ts'
import type { WorldPool } from './families/family.ts'
import { familyOf } from './families/table.ts'
import { type ChainPlan, type PoolPlan, type TokenPlan, tokenOf } from './plan.ts'

export type SeededChain = {
  readonly trader: Address
  readonly feeds: Readonly<Record<string, Address>>
  /** In the order of creation. */
  readonly pools: WorldPool[]
}

const GAS = 25_000_000n
const FEED_DECIMALS = 8
/** A day; consumers require an hour. */
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
  for (const deployment of plan.deployments)
    await familyOf(deployment).deploy(client, deployment, plan.chainId)
  const pools: WorldPool[] = []
  const makers = { trader: traderAddress, gas: GAS }
  for (const pool of plan.pools.filter(({ hook }) => hook === undefined))
    pools.push(await makePool(client, plan, pool, makers))
  return { trader: traderAddress, feeds, pools }
}

/** The pools that are created last, each as a task. */
export const latePools = (
  client: Client,
  plan: ChainPlan,
  seeded: SeededChain,
): readonly (() => Promise<void>)[] =>
  plan.pools
    .filter(({ hook }) => hook !== undefined)
    .map(pool => async () => {
      seeded.pools.push(await makePool(client, plan, pool, { trader: seeded.trader, gas: GAS }))
    })

/** The answer of a stable's feed, in dollars. */
export async function setAnswer(client: Client, feed: Address, usd: number, nowS: number): Promise<void> {
  const answer = BigInt(Math.round(usd * 10 ** FEED_DECIMALS))
  await send(client, {
    to: feed,
    data: encodeFunctionData({ abi: priceFeedAbi, functionName: 'setAnswer', args: [answer, BigInt(nowS)] }),
  })
}

/** Up for long enough that its grace is over. */
async function deploySequencerFeed(client: Client, address: Address, nowS: number): Promise<void> {
  await deployPriceFeed(client, { description: 'L2 Sequencer Uptime Status Feed', decimals: 0 }, address)
  const args = [0n, BigInt(nowS - SEQUENCER_UP_S), BigInt(nowS)] as const
  const data = encodeFunctionData({ abi: priceFeedAbi, functionName: 'setRound', args })
  await send(client, { to: address, data })
}

/** The trader that fills a pool, and the gas limit of a transaction. */
export type PoolMakers = { readonly trader: Address; readonly gas: bigint }

export function makePool(
  client: Client,
  plan: ChainPlan,
  pool: PoolPlan,
  makers: PoolMakers,
): Promise<WorldPool> {
  const [a, b] = pool.pair.map(symbol => tokenOf(plan, symbol)) as [TokenPlan, TokenPlan]
  const tokens = a.address.toLowerCase() < b.address.toLowerCase() ? ([a, b] as const) : ([b, a] as const)
  const deployment = plan.deployments.find(({ id }) => id === pool.deployment)
  if (deployment === undefined) throw new Error(`chain ${plan.chainId} has no deployment ${pool.deployment}`)
  return familyOf(deployment).make({ client, deployment, pool, tokens, ...makers })
}
