/** Readings that take some blocks, against the real contracts: the result equals the chain's state at the tip. */
import {
  count,
  createState,
  DEFAULT_POLICY,
  type Input,
  type LoadedPool,
  ms,
  type State,
  step,
  tick,
} from '@assay/engine'
import { createV3Pool, initialiseV3Pool, trader } from '@assay/world'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { sqrtRatioAtTick } from '../../../engine/amm/tickMath.ts'
import { createChainRpc } from '../../feed/endpoints/chainRpc.ts'
import { fetchBlock } from '../../feed/proof/block.ts'
import type { Endpoint } from '../../feed/endpoints/endpoint.ts'
import { FeedError } from '../../feed/feedError.ts'
import { openEndpoints } from '../../feed/endpoints/openEndpoints.ts'
import type { Market } from '../../market/market.ts'
import { openMarket } from '../../market/openMarket.ts'
import { systemClock } from '../../ops/clock.ts'
import type { ChainConfig } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
import { loadConfig } from '../../config/loadConfig.ts'
import { QUIET } from '../../ops/testing/quiet.ts'
import { startTestChain, type TestChain } from '../../endToEnd/testing/testChain.ts'
import { writeConfig } from '../../endToEnd/testing/testService.ts'
import { bornAs } from './audit.ts'
import { Intake } from './intake.ts'
import { RecentBlocks } from '../recentBlocks.ts'
import { setupOf } from '../setupOf.ts'

let chain: TestChain
let endpoint: Endpoint
let market: Market
let state: State
let recent: RecentBlocks
let intake: Intake
/** Kinds of input the engine was given, with how many pools. */
let given: string[]
const closing: (() => void)[] = []
const { signal } = new AbortController()
const now = () => ms(Date.now())

beforeEach(async () => {
  chain ??= await startTestChain()
  const [config] = loadConfig(writeConfig(chain), {}).chains as [ChainConfig]
  const { endpoints, close } = openEndpoints(config, systemClock)
  closing.push(close)
  endpoint = endpoints.all[0] as Endpoint
  market = openMarket(config, createChainRpc(endpoints, signal))
  state = createState(setupOf(config), DEFAULT_POLICY)
  recent = new RecentBlocks(state)
  given = []
  const apply = async (input: Input) => {
    given.push(input.kind === 'load' ? `load ${input.pools.length}` : input.kind)
    return step(state, input)
  }
  intake = new Intake({ state, recent, apply, inLane: task => task(), now, log: QUIET })
  await follow()
}, 60_000)
afterAll(async () => {
  for (const close of closing) close()
  await chain?.close()
})

/** Every block up to the node's head, as the host takes them. */
async function follow(): Promise<void> {
  const { number } = await chain.head()
  for (let at = (state.chain.tip?.number ?? number - 1) + 1; at <= number; at++) take(await blockAt(at))
}

async function blockAt(at: number | Hex): Promise<Extract<Input, { kind: 'block' }>['block']> {
  const { number, hash, timeMs, parentHash, proof, ...rest } = await fetchBlock(endpoint, at, signal)
  const events = market.decode(
    { number, hash, timeMs, parentHash, proof, ...rest },
    pool => state.pools.get(pool)?.terms.family ?? recent.familyOf(pool),
    () => false,
  )
  return { number: count(number), hash, timeMs: ms(timeMs), parentHash, proof, events }
}

function take(block: Extract<Input, { kind: 'block' }>['block']): void {
  step(state, { kind: 'block', block, atMs: now() })
  recent.append(block)
}

/** A market whose first loads end only after this was done. */
function withDuring(...during: readonly (() => Promise<unknown>)[]): Market {
  const left = [...during]
  return {
    ...market,
    async load(...args) {
      const answer = await market.load(...args)
      await left.shift()?.()
      return answer
    },
  }
}

const LARK_POOLS = () => [chain.pool('uniswap-v2', 'USDC', 'LARK'), chain.pool('uniswap-v3', 'WETH', 'LARK')]

async function found(): Promise<readonly LoadedPool['pool'][]> {
  const pools = await market.discover(chain.token('LARK'), intake.tip(), signal)
  return pools.filter(({ address }) => LARK_POOLS().includes(address))
}

/** The engine's state of a pool and the chain's, where both have it. */
async function bothOf(address: Hex): Promise<readonly [object, object]> {
  const pool = state.pools.get(address)
  if (pool === undefined) throw new Error(`${address} is not known`)
  const { loaded } = await market.load([bornAs(pool)], { ...(await chain.head()), timeMs: 0 }, signal)
  const [read] = loaded as [LoadedPool]
  const isRead = ({ tick }: { tick: number }) =>
    read.ticks !== null && tick >= read.ticks.range.lowest && tick <= read.ticks.range.highest
  const ticks = pool.terms.family === 'amm_v2' ? null : pool.terms.book.entries().filter(isRead)
  return [
    { state: pool.state.amm, ticks },
    { state: read.state, ticks: read.ticks?.entries ?? null },
  ]
}

test('pools that trade and gain liquidity while they are read are handed in with their state at the tip', async () => {
  const [pair, pool] = LARK_POOLS() as [Hex, Hex]
  const trades = async () => {
    await chain.run(chain.sellV2(pair, 'LARK', 700), chain.sellV3(pool, 'LARK', 900))
    await chain.run(chain.sellV3(pool, 'WETH', 4000), chain.fillV2(pair, 'USDC', 'LARK', 5000))
    await chain.run(...(await chain.pullV3(pool, 250n)), trader.mintV3(pool, -120, 120, 10n ** 15n))
    await chain.mine()
    await follow()
  }
  await intake.pools(await found(), { market: withDuring(trades), signal })
  expect(given.filter(kind => kind.startsWith('load'))).toEqual(['load 2'])
  for (const address of [pair, pool]) {
    const [ours, theirs] = await bothOf(address)
    expect(ours).toEqual(theirs)
  }
})

test('a pool that gets its first price and liquidity while it is read is complete', async () => {
  const { plan, client } = chain.world
  const factory = plan.deployments.find(({ id }) => id === 'uniswap-v3')?.factory as Hex
  const made = await createV3Pool(client, factory, [chain.token('LARK'), chain.token('USDC')], 500)
  const address = made.address.toLowerCase() as Hex
  await follow()
  const pools = await market.discover(chain.token('LARK'), intake.tip(), signal)
  const born = pools.filter(each => each.address === address)
  expect(born).toHaveLength(1)
  const first = async () => {
    await initialiseV3Pool(client, made, 1n << 96n)
    await chain.run(trader.mintV3(address, -1000, 1000, 10n ** 12n))
    await follow()
  }
  await intake.pools(born, { market: withDuring(first), signal })
  const [ours, theirs] = await bothOf(address)
  expect(ours).toEqual(theirs)
})

test('a reading whose block is orphaned meanwhile is repeated at the new tip', async () => {
  const [pair] = LARK_POOLS() as [Hex]
  await chain.run(chain.sellV2(pair, 'LARK', 300))
  await follow()
  let orphanedAt = 0
  const reorganise = async () => {
    const { parentHash, number } = await chain.head()
    orphanedAt = number
    await chain.reorgWith(1, [{ block: 0, ...chain.batch(chain.sellV2(pair, 'LARK', 50)) }])
    const block = await blockAt(number)
    step(state, { kind: 'reorg', ancestor: parentHash, blocks: [block], atMs: now() })
    recent.replace(parentHash, [block])
    throw new FeedError('BLOCK_UNKNOWN', null, 'the node has forgotten it')
  }
  const pools = (await found()).filter(({ address }) => address === pair)
  await intake.pools(pools, { market: withDuring(reorganise), signal })
  const [ours, theirs] = await bothOf(pair)
  expect(ours).toEqual(theirs)
  expect(state.chain.tip?.number).toBe(orphanedAt)
})

test('a failure that no reorganisation explains is passed to the reader', async () => {
  const fail = async () => {
    throw new FeedError('ENDPOINT_TIMEOUT', null, 'no answer')
  }
  await expect(intake.pools(await found(), { market: withDuring(fail), signal })).rejects.toThrow('no answer')
  expect(given).not.toContain('load 2')
})

test('R-verify-2: a price driven out of the known ticks and back leaves the depth unknown once, not every time', async () => {
  const [, address] = LARK_POOLS() as [Hex, Hex]
  await intake.pools(await found(), { market, signal })
  const pool = () => {
    const known = state.pools.get(address)
    if (known?.terms.family !== 'amm_v3' || known.state.amm.family !== 'amm_v3')
      throw new Error('no pool of v3')
    return { state: known.state, book: known.terms.book, amm: known.state.amm }
  }
  const { book, amm } = pool()
  const beyond = sqrtRatioAtTick(tick(book.highest + 2 * book.tickSpacing))
  const thereAndBack = [
    trader.swapV3(address, false, 1n << 200n, beyond),
    trader.swapV3(address, true, 1n << 200n, amm.sqrtPriceX96),
  ]
  await chain.run(...thereAndBack)
  await follow()
  expect(pool().state).toMatchObject({ incomplete: true, depth: null })
  await intake.pools(await found(), { market, signal })
  await chain.run(...thereAndBack)
  await follow()
  expect(pool().state).toMatchObject({ incomplete: false, verified: true })
  expect(pool().state.depth).not.toBeNull()
})
