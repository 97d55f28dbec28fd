/** What upkeep finds on a real chain that blocks did not tell: drifted pools, ticks nobody reported, changed tokens. */
import { count, createState, DEFAULT_POLICY, HOLD_MS, type Input, ms, type State, step } from '@assay/engine'
import { priceFeedAbi, send, testTokenAbi, trader } from '@assay/world'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createChainRpc } from '../../feed/endpoints/chainRpc.ts'
import { FeedError } from '../../feed/feedError.ts'
import { fetchBlock } from '../../feed/proof/block.ts'
import type { Endpoint } from '../../feed/endpoints/endpoint.ts'
import type { BlockRef, ChainRpc, VerifiedBlock } from '../../feed/feed.ts'
import { openEndpoints } from '../../feed/endpoints/openEndpoints.ts'
import type { Market } from '../../market/market.ts'
import { openMarket } from '../../market/openMarket.ts'
import { aggregatorProxy } from '../../market/testing/aggregatorProxy.ts'
import { putMulticall3 } from '../../market/testing/multicall3.ts'
import { systemClock } from '../../ops/clock.ts'
import type { ChainConfig } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
import { loadConfig } from '../../config/loadConfig.ts'
import { startTestChain, type TestChain } from '../../endToEnd/testing/testChain.ts'
import { writeConfig } from '../../endToEnd/testing/testService.ts'
import { bornAs, knownTicksOf, UPGRADES } from './audit.ts'
import { Intake } from './intake.ts'
import { RecentBlocks } from '../recentBlocks.ts'
import { setupOf } from '../setupOf.ts'
import { Upkeep, type UpkeepContext } from './upkeep.ts'

const HOUR_MS = 3_600_000

let chain: TestChain
let state: State
let market: Market
let upkeep: Upkeep
let context: UpkeepContext
/** Of the market, to the node. */
let calls: number
let warnings: string[]
let endpoint: Endpoint
let rpc: ChainRpc
const closing: (() => void)[] = []
const { signal } = new AbortController()

/** An engine with the current state of every pool of the plan, and no events from then on. */
beforeEach(async () => {
  if (chain === undefined) {
    chain = await startTestChain()
    await putMulticall3((method, ...params) => chain.rpc(method, ...params))
  }
  const [config] = loadConfig(writeConfig(chain), {}).chains as [ChainConfig]
  const { endpoints, close } = openEndpoints(config, systemClock)
  closing.push(close)
  endpoint = endpoints.all[0] as Endpoint
  calls = 0
  rpc = counted(createChainRpc(endpoints, signal))
  market = openMarket(config, rpc)
  state = createState(setupOf(config), DEFAULT_POLICY)
  warnings = []
  const log = {
    info: () => undefined,
    error: () => undefined,
    warn: (message: string) => warnings.push(message),
  }
  const common = { state, apply: async (input: Input) => step(state, input), now, log }
  const recent = new RecentBlocks(state)
  const intake = new Intake({ ...common, recent, inLane: task => task() })
  const intervals = { tokensMs: 0, poolsMs: 0 }
  context = { ...common, intake, market, clock: systemClock, signal }
  upkeep = new Upkeep({ ...context, intervals })
  const tip = await follow()
  for (const { tokenAddress } of config.stables) await learn(tokenAddress, tip)
  for (const token of [...config.routingAssets, ...config.tokens]) await learn(token, tip)
}, 60_000)
const counted = (chainRpc: ChainRpc): ChainRpc => ({
  call: (...args) => {
    calls++
    return chainRpc.call(...args)
  },
  code: (...args) => {
    calls++
    return chainRpc.code(...args)
  },
})
afterAll(async () => {
  for (const close of closing) close()
  await chain?.close()
})

const apply = (input: Input) => step(state, input)
const now = () => ms(Date.now())

/** A new block, which the engine receives as empty. */
async function follow(): Promise<BlockRef> {
  await chain.mine()
  await skipTo()
  const { tip } = state.chain
  if (tip === null) throw new Error('no block')
  return tip
}

async function learn(token: Hex, tip: BlockRef): Promise<void> {
  const facts = await market.readToken(token, tip, signal)
  if (facts === null) throw new Error(`${token} is no token`)
  apply({ kind: 'token_facts', block: refOf(tip), facts: [facts], atMs: now() })
  const { loaded, failed } = await market.load(await market.discover(token, tip, signal), tip, signal)
  expect(failed).toEqual([])
  const unknown = loaded.filter(({ pool }) => !state.pools.has(pool.address))
  if (unknown.length > 0) apply({ kind: 'load', block: refOf(tip), pools: unknown, atMs: now() })
}

/** Until every pool had its turn. */
async function audit(): Promise<void> {
  for (let turn = 0; turn < state.pools.size; turn++) await tend()
}

async function tend(): Promise<void> {
  await follow()
  await upkeep.tend([])
}

const setDecimals = (token: Hex, decimals: number) =>
  send(chain.world.client, {
    to: token,
    data: encodeFunctionData({ abi: testTokenAbi, functionName: 'setDecimals', args: [decimals] }),
  })

const upgradeOf = (address: Hex): VerifiedBlock['logs'][number] =>
  ({ address, topics: [[...UPGRADES][0]] }) as unknown as VerifiedBlock['logs'][number]

const poolOf = (address: Hex) => {
  const pool = state.pools.get(address)
  if (pool === undefined) throw new Error(`${address} is not known`)
  return pool
}

test('a pool read with known ticks costs one round, and reads the same', async () => {
  const pool = poolOf(chain.pool('uniswap-v3', 'WETH', 'LARK'))
  const tip = await follow()
  calls = 0
  const whole = await market.load([bornAs(pool)], tip, signal)
  expect(calls).toBe(3)
  calls = 0
  const known = new Map(knownTicksOf(pool))
  expect(await market.load([bornAs(pool)], tip, signal, known)).toEqual(whole)
  expect(calls).toBe(1)
  const wrong = new Map([[pool.address, { at: 600_000, set: [599_940] }]])
  expect(await market.load([bornAs(pool)], tip, signal, wrong)).toEqual(whole)
})

test('while the chain matches our state, nothing is written and no warning is logged', async () => {
  const before = new Map([...state.pools].map(([address, { state: each }]) => [address, each.amm]))
  await audit()
  expect(warnings).toEqual([])
  for (const [address, amm] of before) {
    expect(poolOf(address).state.amm).toEqual(amm)
    expect(poolOf(address).state.verified).toBe(true)
  }
})

test('reserves that changed without an event make the pool unverified', async () => {
  const pair = chain.pool('uniswap-v2', 'USDC', 'LARK')
  await chain.run(chain.sellV2(pair, 'LARK', 5000))
  await skipTo()
  await audit()
  expect(warnings).toContain('a pool drifted from the chain and is read again')
  expect(poolOf(pair).state).toMatchObject({ verified: false })
  expect(poolOf(pair).state.differences.map(({ field }) => field)).toEqual(['reserve0', 'reserve1'])
})

test('unreported ticks are found by reading all of them, and taken over', async () => {
  const pool = chain.pool('uniswap-v3', 'WETH', 'LARK')
  const { terms, state: before } = poolOf(pool)
  if (terms.family !== 'amm_v3' || before.amm.family !== 'amm_v3') throw new Error('not a v3 pool')
  const { tickSpacing } = terms
  // Above the price: neither the slot nor the active liquidity changes, only the ticks.
  const lower = (Math.ceil(before.amm.tick / tickSpacing) + 2) * tickSpacing
  await chain.run(trader.mintV3(pool, lower, lower + tickSpacing, 10n ** 18n))
  await skipTo()
  await audit()
  expect(warnings).toContain('a pool drifted from the chain and is read again')
  const after = poolOf(pool)
  if (after.terms.family !== 'amm_v3') throw new Error('not a v3 pool')
  const ticks = after.terms.book.entries().map(({ tick }) => Number(tick))
  expect(ticks).toEqual(expect.arrayContaining([lower, lower + tickSpacing]))
  expect(after.state.verified).toBe(true)
})

test('R-decimals-3: a token’s changed value is accepted only when it is repeated half an hour later', async () => {
  const lark = chain.token('LARK')
  await setDecimals(lark, 9)
  await skipTo()
  await tend()
  expect(state.tokens.get(lark)?.decimals).toMatchObject({ value: 18, changedTo: 9 })
  await tend()
  expect(state.tokens.get(lark)?.decimals).toMatchObject({ value: 18, changedTo: 9 })
  await chain.world.client.increaseTime({ seconds: HOLD_MS / 1_000 })
  await tend()
  expect(state.tokens.get(lark)?.decimals).toMatchObject({ value: 9, changedTo: null })
  await setDecimals(lark, 18)
})

test('a token that cannot be read keeps no other token unread, and is not read with every block', async () => {
  const [bad, lark] = [chain.token('MOTH'), chain.token('LARK')]
  const read: Hex[] = []
  const readToken: Market['readToken'] = async (token, ...rest) => {
    read.push(token)
    if (token === bad) throw new FeedError('ANSWER_TOO_LARGE', 'node', 'its name has no end')
    return market.readToken(token, ...rest)
  }
  const intervals = { tokensMs: HOUR_MS, poolsMs: HOUR_MS }
  const partly = new Upkeep({ ...context, market: { ...market, readToken }, intervals })
  const tendWith = async (...tokens: readonly Hex[]) => {
    read.length = 0
    await follow()
    await partly.tend([{ proof: 'none', logs: tokens.map(upgradeOf) }])
    return read.includes(bad)
  }
  await setDecimals(lark, 9)
  expect(await tendWith(bad, lark)).toBe(true)
  expect(state.tokens.get(lark)?.decimals).toMatchObject({ value: 18, changedTo: 9 })
  expect(warnings).toContain('a token could not be read again')
  expect(await tendWith()).toBe(false)
  intervals.tokensMs = 0
  expect(await tendWith()).toBe(true)
  await setDecimals(lark, 18)
})

test('a price that leaves the known ticks requests them, and the reading then covers it again', async () => {
  const pool = chain.pool('uniswap-v3', 'WETH', 'LARK')
  const { terms } = poolOf(pool)
  if (terms.family !== 'amm_v3') throw new Error('not a v3 pool')
  const { hash } = await chain.run(chain.sellV3(pool, 'WETH', 20_000_000))
  const { needs } = apply(inputOf(await fetchBlock(endpoint, hash, signal)))
  expect(needs).toContainEqual({ kind: 'load', pool, why: 'INCOMPLETE' })
  const tip = await follow()
  const { loaded } = await market.load([bornAs(poolOf(pool))], tip, signal)
  const result = apply({ kind: 'load', block: refOf(tip), pools: loaded, atMs: now() })
  expect(result.needs).toEqual([])
  const { state: after, terms: reached } = poolOf(pool)
  if (after.amm.family !== 'amm_v3' || reached.family !== 'amm_v3') throw new Error('not a v3 pool')
  expect(terms.book.isKnown(after.amm.tick)).toBe(false)
  expect(reached.book.isKnown(after.amm.tick)).toBe(true)
  expect(after.incomplete).toBe(false)
})

test('stable answers are read at the tip: a new one is there after the next block', async () => {
  const feed = chain.world.seeded.feeds['USDC'] as Hex
  const data = encodeFunctionData({
    abi: priceFeedAbi,
    functionName: 'setAnswer',
    args: [99_800_000n, BigInt(Math.floor(Date.now() / 1000))],
  })
  await send(chain.world.client, { to: feed, data })
  await skipTo()
  await tend()
  expect(state.stables.get(chain.token('USDC'))?.reading?.value).toBe(99_800_000n)
})

test('R-reading-3: behind a proxy, answers come from the logs of proven blocks, and the proxy is asked for its aggregator', async () => {
  const [first, second] = ['USDC', 'USDT'].map(symbol => chain.world.seeded.feeds[symbol] as Hex) as [
    Hex,
    Hex,
  ]
  const proxy: Hex = `0x${'f0'.repeat(20)}`
  const turnTo = (aggregator: Hex) => chain.rpc('anvil_setCode', proxy, aggregatorProxy(aggregator))
  await turnTo(first)
  const [config] = loadConfig(writeConfig(chain), {}).chains as [ChainConfig]
  const usdFeed = { address: proxy, heartbeatMs: 3_600_000, graceMs: 0 }
  const proxied: ChainConfig = {
    ...config,
    stables: [{ tokenAddress: chain.token('USDC'), usdFeed }],
    routingAssets: [chain.token('WETH')],
    assetFeeds: [{ tokenAddress: chain.token('WETH'), usdFeed }],
  }
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const behind = new Upkeep({ ...context, market: openMarket(proxied, rpc), clock })
  const [stables, tokens] = [state.stables, [chain.token('USDC'), chain.token('WETH')]]
  const answers = () => tokens.map(token => stables.get(token)?.reading?.value)
  /** Blocks as the follower hands them over, answers first. */
  const pass = async () => {
    const { number } = await chain.head()
    for (let at = (state.chain.tip?.number ?? 0) + 1; at <= number; at++) {
      const block = await fetchBlock(endpoint, at, signal)
      apply(inputOf(block))
      const logged = behind.answersOf(block)
      if (logged.length > 0) apply({ kind: 'feed_answer', block: refOf(block), answers: logged, atMs: now() })
      await behind.tend([block])
    }
  }
  const answer = async (feed: Hex, value: bigint) => {
    const args = [value, BigInt(Math.floor(Date.now() / 1000))] as const
    const data = encodeFunctionData({ abi: priceFeedAbi, functionName: 'setAnswer', args })
    await send(chain.world.client, { to: feed, data })
    await chain.mine()
    await pass()
  }
  await answer(first, 99_700_000n)
  expect(answers()).toEqual([99_700_000n, 99_700_000n])
  calls = 0
  await answer(first, 99_600_000n)
  expect([answers(), calls]).toEqual([[99_600_000n, 99_600_000n], 0])
  // The proxy changes: until it is read again the old aggregator counts, and then the new one alone.
  await answer(second, 100_100_000n)
  await turnTo(second)
  await answer(first, 99_500_000n)
  expect(answers()).toEqual([99_500_000n, 99_500_000n])
  nowMs += 600_000
  await chain.mine()
  await pass()
  expect(answers()).toEqual([100_100_000n, 100_100_000n])
  calls = 0
  await answer(first, 99_400_000n)
  await answer(second, 100_200_000n)
  expect([answers(), calls]).toEqual([[100_200_000n, 100_200_000n], 0])
})

test('in a steady state all of it is at most three calls a minute', async () => {
  let nowMs = 0
  const steady = new Upkeep({ ...context, clock: { ...systemClock, monotonicMs: () => nowMs } })
  const proven = [{ logs: [], proof: 'receipts' as const }]
  await steady.tend(proven)
  calls = 0
  const minutes = 12
  for (let at = 0; at < minutes * 5; at++) {
    nowMs += 12_000
    await follow()
    await steady.tend(proven)
  }
  expect(warnings).toEqual([])
  expect(calls).toBeGreaterThan(minutes)
  expect(calls).toBeLessThanOrEqual(3 * minutes)
}, 60_000)

/** The blocks in between, which the engine does not receive. */
async function skipTo(): Promise<void> {
  const { number } = await chain.head()
  const from = (state.chain.tip?.number ?? number - 1) + 1
  for (let at = from; at <= number; at++) {
    const block = await fetchBlock(endpoint, at, signal)
    apply(inputOf({ ...block, logs: [], proof: 'none' }))
  }
}

function inputOf(block: VerifiedBlock): Input {
  const { parentHash, proof } = block
  const events = market.decode(
    block,
    pool => state.pools.get(pool)?.terms.family ?? null,
    () => false,
  )
  return { kind: 'block', block: { ...refOf(block), parentHash, proof, events }, atMs: now() }
}

const refOf = ({ number, hash, timeMs }: BlockRef) => ({ number: count(number), hash, timeMs: ms(timeMs) })
