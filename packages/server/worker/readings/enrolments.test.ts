/** Tokens on their way in, on a real chain that does not wait for them. */
import { join } from 'node:path'
import { DEFAULT_POLICY } from '@assay/engine'
import { afterEach, expect, test } from 'vitest'
import { FeedError } from '../../feed/feedError.ts'
import { openFeed } from '../../feed/openFeed.ts'
import { BudgetSpent } from '../../market/callBudget.ts'
import type { Market } from '../../market/market.ts'
import { openMarket } from '../../market/openMarket.ts'
import { systemClock } from '../../ops/clock.ts'
import type { ChainConfig } from '../../config/config.ts'
import { loadConfig } from '../../config/loadConfig.ts'
import { QUIET } from '../../ops/testing/quiet.ts'
import { CHAIN_ID } from '../../endToEnd/testing/plan.ts'
import { startTestChain, type TestChain } from '../../endToEnd/testing/testChain.ts'
import { writeConfig } from '../../endToEnd/testing/testService.ts'
import { until } from '../../endToEnd/testing/until.ts'
import { claimStore, openStore } from '../../store/openStore.ts'
import { startChain } from '../chainHost.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

test('R-find-2: a pool created while its token is being looked up is known, whichever request named the token', async () => {
  const chain = await startTestChain()
  closing.push(chain.close)
  const held = new Map([chain.token('MOTH'), chain.token('LARK')].map(token => [token, new Hold()]))
  const { host, store } = await startHost(chain, ['MOTH'], market => heldAfterLookUp(market, held))

  for (const symbol of ['MOTH', 'LARK']) {
    const token = chain.token(symbol)
    const hold = held.get(token) as Hold
    if (symbol === 'LARK') expect(await host.enrol(token)).toMatchObject({ state: 'PENDING' })
    await hold.reached
    const pair = await chain.createV2('v2-two', 'USDC', symbol)
    await chain.run(chain.fillV2(pair, 'USDC', symbol, 10_000))
    const { hash } = await chain.mine()
    await until('the block after the new pool', async () => {
      return (await store.readCheckpoint(CHAIN_ID))?.tip?.hash === hash
    })
    hold.release()
    const { quote } = await chain.untilMining(`${symbol} evaluated`, () => store.readQuote(CHAIN_ID, token))
    expect(quote).toContain(pair)
    expect(JSON.parse((await store.readPool(CHAIN_ID, pair))?.state ?? '{}')).toMatchObject({
      reserves: await chain.reserves(pair),
    })
  }
}, 60_000)

test('a configured token that cannot be read delays no other, and is enrolled when it can be read', async () => {
  const chain = await startTestChain()
  closing.push(chain.close)
  const broken = chain.token('MOTH')
  let isBroken = true
  const { store } = await startHost(chain, ['MOTH', 'LARK'], market => ({
    ...market,
    readToken: (token, block, signal) =>
      token === broken && isBroken
        ? Promise.reject(new FeedError('ANSWER_TOO_LARGE', 'node', 'its name has no end'))
        : market.readToken(token, block, signal),
  }))
  const evaluated = (symbol: string) =>
    chain.untilMining(`${symbol} evaluated`, () => store.readQuote(CHAIN_ID, chain.token(symbol)))
  expect(JSON.parse((await evaluated('LARK')).quote)).toMatchObject({ state: 'PRICED' })
  expect(await store.readQuote(CHAIN_ID, broken)).toBeNull()
  isBroken = false
  expect(JSON.parse((await evaluated('MOTH')).quote)).toMatchObject({ state: 'PRICED' })
}, 60_000)

test('of tokens requested together, one that cannot be read delays no other', async () => {
  const chain = await startTestChain()
  closing.push(chain.close)
  const broken = chain.token('MOTH')
  const { host } = await startHost(chain, [], market => ({
    ...market,
    readToken: (token, ...rest) =>
      token === broken
        ? Promise.reject(new FeedError('ANSWER_TOO_LARGE', 'node', 'its name has no end'))
        : market.readToken(token, ...rest),
  }))
  const stateOf = async (token: string) => (await host.enrol(token, 'someone')).state
  await Promise.all([stateOf(broken), stateOf(chain.token('LARK'))])
  await chain.untilMining('one evaluated, one refused', async () => {
    const states = [await stateOf(broken), await stateOf(chain.token('LARK'))]
    return states.join() === 'RPC_UNAVAILABLE,EVALUATED'
  })
}, 60_000)

test('a look-up beyond the call budget reports so, with when to retry', async () => {
  const chain = await startTestChain()
  closing.push(chain.close)
  const { host } = await startHost(chain, [], market => ({
    ...market,
    discover: (token, ...rest) =>
      token === chain.token('LARK')
        ? Promise.reject(new BudgetSpent({ calls: 1, perSecond: 2 }, 60_000))
        : market.discover(token, ...rest),
    identify: () => Promise.reject(new BudgetSpent({ calls: 1, perSecond: 2 }, 60_000)),
    recheck: () => Promise.reject(new BudgetSpent({ calls: 1, perSecond: 2 }, 60_000)),
  }))
  const token = chain.token('LARK')
  expect(await host.progress(token)).toBe(null)
  expect(await host.enrol(token, 'someone')).toMatchObject({ state: 'PENDING' })
  const spent = { retryAfterMs: 60_000 }
  await chain.untilMining('the look-up abandoned', async () => {
    return (await host.progress(token))?.state === 'BUDGET_EXCEEDED'
  })
  // What is left of the wait.
  const { state, retryAfterMs } = (await host.progress(token)) as { state: string; retryAfterMs: number }
  expect(state).toBe('BUDGET_EXCEEDED')
  expect(retryAfterMs).toBeGreaterThan(0)
  expect(retryAfterMs).toBeLessThanOrEqual(spent.retryAfterMs)
  const pair = chain.pool('uniswap-v2', 'USDC', 'LARK')
  expect(await host.poolQuote(pair, 5000)).toEqual({ outcome: 'budget_exceeded', ...spent })
  const known = chain.token('WETH')
  expect(await host.tokenQuote(known, null, false)).toMatchObject({ outcome: 'quote' })
  expect(await host.tokenQuote(known, null, true)).toEqual({ outcome: 'budget_exceeded', ...spent })
}, 60_000)

test('R-guard-14: a token without a pool is looked up where liquidity is not priced, and the caller gets the result', async () => {
  const chain = await startTestChain()
  closing.push(chain.close)
  const bare = chain.token('MOTH')
  const asked: string[] = []
  const pool = { address: `0x${'c1'.repeat(20)}`, family: 'curve', deploymentId: 'curve-registry' } as const
  const { store } = await startHost(chain, ['MOTH', 'LARK'], market => ({
    ...market,
    discover: async (token, ...rest) => (token === bare ? [] : market.discover(token, ...rest)),
    elsewhere: async token => {
      asked.push(token)
      return [pool]
    },
  }))
  const quoteOf = async (symbol: string) =>
    JSON.parse(
      (await chain.untilMining(`${symbol} evaluated`, () => store.readQuote(CHAIN_ID, chain.token(symbol))))
        .quote,
    )
  expect(await quoteOf('LARK')).toMatchObject({ state: 'PRICED' })
  expect(await quoteOf('MOTH')).toMatchObject({
    state: 'UNPRICED',
    reason: 'NO_POOL',
    last_priced: null,
    candidates: [{ rule: 'UNSUPPORTED_FAMILY', actual: `curve pool ${pool.address} of curve-registry` }],
  })
  // One that has pools costs no further calls.
  expect(asked).toEqual([bare])
}, 60_000)

async function startHost(chain: TestChain, tokens: string[], around: (market: Market) => Market) {
  const [config] = loadConfig(writeConfig(chain, { tokens }), {}).chains as [ChainConfig]
  const address = `sqlite:${join(chain.folder, 'arriving.db')}`
  closing.push(await claimStore(address))
  const store = await openStore(address)
  closing.push(() => store.close())
  const host = await startChain({
    chain: config,
    policy: DEFAULT_POLICY,
    coverage: [],
    store,
    openFeed: resume => openFeed({ chain: config, clock: systemClock, resume, log: () => undefined }),
    openMarket: rpc => around(openMarket(config, rpc)),
    clock: systemClock,
    log: QUIET,
    onCommitted: () => undefined,
  })
  closing.push(() => host.close())
  return { host, store }
}

/** A place where somebody waits until he is let go. */
class Hold {
  readonly reached: Promise<void>
  readonly released: Promise<void>
  reach!: () => void
  release!: () => void

  constructor() {
    this.reached = new Promise(resolve => {
      this.reach = resolve
    })
    this.released = new Promise(resolve => {
      this.release = resolve
    })
  }
}

/** A market whose look-up of these tokens takes as long as the test wants, as of the block it was asked for. */
const heldAfterLookUp = (market: Market, held: ReadonlyMap<string, Hold>): Market => ({
  ...market,
  async discover(token, block, signal) {
    const found = await market.discover(token, block, signal)
    held.get(token)?.reach()
    await held.get(token)?.released
    return found
  },
})
