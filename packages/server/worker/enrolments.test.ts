/** Tokens on their way in, on a real chain that does not wait for them. */
import { join } from 'node:path'
import { DEFAULT_POLICY } from '@assay/engine'
import { afterEach, expect, test } from 'vitest'
import { openFeed } from '../feed/openFeed.ts'
import type { Market } from '../market/market.ts'
import { openMarket } from '../market/openMarket.ts'
import { systemClock } from '../ops/clock.ts'
import type { ChainConfig } from '../ops/config.ts'
import { loadConfig } from '../ops/loadConfig.ts'
import { QUIET } from '../ops/testing/quiet.ts'
import { CHAIN_ID } from '../service/testing/plan.ts'
import { startTestChain } from '../service/testing/testChain.ts'
import { writeConfig } from '../service/testing/testService.ts'
import { until } from '../service/testing/until.ts'
import { claimStore, openStore } from '../store/openStore.ts'
import { startChain } from './chainHost.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

test('a pool made while its token is being looked up is known, whoever asked for the token', async () => {
  const chain = await startTestChain()
  closing.push(chain.close)
  const [config] = loadConfig(writeConfig(chain, { tokens: ['MOTH'] }), {}).chains as [ChainConfig]
  const address = `sqlite:${join(chain.folder, 'arriving.db')}`
  closing.push(await claimStore(address))
  const store = await openStore(address)
  closing.push(() => store.close())
  const held = new Map([chain.token('MOTH'), chain.token('LARK')].map(token => [token, new Hold()]))
  const host = await startChain({
    chain: config,
    policy: DEFAULT_POLICY,
    coverage: [],
    store,
    openFeed: resume => openFeed({ chain: config, clock: systemClock, resume, log: () => undefined }),
    openMarket: rpc => heldAfterLookUp(openMarket(config, rpc), held),
    clock: systemClock,
    log: QUIET,
    onCommitted: () => undefined,
  })
  closing.push(() => host.close())

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
