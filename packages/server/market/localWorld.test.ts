/** Readings on a chain of the local world go through Multicall3, so that a slow endpoint can serve them. */
import { WORLD } from '@assay/world'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChainRpc } from '../feed/endpoints/chainRpc.ts'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import { openEndpoints } from '../feed/endpoints/openEndpoints.ts'
import { systemClock } from '../ops/clock.ts'
import type { ChainConfig } from '../config/config.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { startTestChain, type TestChain } from '../endToEnd/testing/testChain.ts'
import { writeConfig } from '../endToEnd/testing/testService.ts'
import { openMarket } from './openMarket.ts'

/** The smallest of the five. */
const PLAN = WORLD.find(({ chainId }) => chainId === 43_114)
/** A look for Multicall3, and one call or two for each step of a look-up, however many tokens take it together. */
const FEW_CALLS = 15

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain(PLAN)
})
afterAll(() => chain?.close())

test('all tokens and pools of the chain are found and read in a few calls', async () => {
  const [config] = loadConfig(writeConfig(chain), {}).chains as [ChainConfig]
  const { signal } = new AbortController()
  const { endpoints, close } = openEndpoints(config, systemClock)
  try {
    const rpc = createChainRpc(endpoints, signal)
    let calls = 0
    const counted: ChainRpc = {
      call: (...args) => (calls++, rpc.call(...args)),
      code: (...args) => (calls++, rpc.code(...args)),
    }
    const market = openMarket(config, counted)
    const head = await chain.head()
    const block: BlockRef = { number: head.number, hash: head.hash, timeMs: 0 }
    const tokens = [
      ...config.tokens,
      ...config.routingAssets,
      ...config.stables.map(({ tokenAddress }) => tokenAddress),
    ]
    const [facts, found] = await Promise.all([
      Promise.all(tokens.map(token => market.readToken(token, block, signal))),
      Promise.all(tokens.map(token => market.discover(token, block, signal))),
    ])
    expect(facts.map(fact => fact?.token)).toEqual(tokens)
    const pools = new Map(found.flat().map(pool => [pool.address, pool]))
    expect([...pools.keys()].sort()).toEqual(
      chain.world.seeded.pools.map(({ address }) => address.toLowerCase()).sort(),
    )
    const { loaded, failed } = await market.load([...pools.values()], block, signal)
    expect([loaded.length, failed]).toEqual([pools.size, []])
    expect(calls).toBeLessThanOrEqual(FEW_CALLS)
  } finally {
    close()
  }
})
