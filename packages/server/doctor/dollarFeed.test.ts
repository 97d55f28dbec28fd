/** P18: a feed counts as one in dollars only when it describes itself so. */
import { expect, test } from 'vitest'
import { LOGGER, startLocalChain } from '../feed/testing/localChain.ts'
import { startRpcProxy } from '../feed/testing/rpcProxy.ts'
import { SELECTOR } from '../market/abi.ts'
import { bareConfig } from '../config/testing/bareConfig.ts'
import type { Hex } from '../ops/hex.ts'
import { Secret } from '../ops/secret.ts'
import { notInDollars } from './dollarFeed.ts'
import { preflight } from './preflight.ts'

test.each([
  ['USDC / USD', 8],
  ['Calculated XYZ / USD', 18],
  ['usdt/usd ', 8],
  [null, 8],
  [null, null],
])('%j with %j decimals is accepted', (description, decimals) => {
  expect(notInDollars(description, decimals)).toBeNull()
})

test.each([
  ['WSTETH / ETH', 18],
  ['ETH / BTC', 8],
  ['USD / EUR', 8],
  ['L2 Sequencer Uptime Status Feed', 0],
  [null, 18],
  ['X / USD', 77],
])('P18: %j with %j decimals is refused', (description, decimals) => {
  expect(notInDollars(description, decimals)).toMatch(/dollars|decimals/)
})

const word = (value: number): string => value.toString(16).padStart(64, '0')
const textAnswer = (text: string): Hex =>
  `0x${word(32)}${word(text.length)}${Buffer.from(text).toString('hex').padEnd(64, '0')}`

test('P18: a start with an ether feed in place of a dollar feed is refused with its key', async () => {
  const chain = await startLocalChain({ chainId: 31_337, timestamp: Math.floor(Date.now() / 1000) - 5 })
  let description = 'WSTETH / ETH'
  const proxy = await startRpcProxy(chain.anvil.url, (call, fetchAnswer) => {
    const [request] = call.params as [{ data?: Hex }?]
    if (call.method !== 'eth_call') return fetchAnswer()
    return { result: request?.data === SELECTOR['description()'] ? textAnswer(description) : `0x${word(18)}` }
  })
  try {
    const usdFeed = { address: LOGGER, heartbeatMs: 86_400_000, graceMs: 1_800_000 }
    const only = chain.config({
      endpoints: [{ name: 'node', url: new Secret(proxy.url) }],
      stables: [{ tokenAddress: LOGGER, usdFeed }],
      routingAssets: [LOGGER],
      assetFeeds: [{ tokenAddress: LOGGER, usdFeed }],
    })
    const config = bareConfig({ chains: [only] })
    await expect(preflight(config)).rejects.toThrow(
      `chains[0].stables[0].usd_feed.address: the feed at ${LOGGER} is not in dollars: its description is "WSTETH / ETH"`,
    )
    await expect(preflight(config)).rejects.toThrow(
      `chains[0].routing_assets[0].usd_feed.address: the feed at ${LOGGER} is not in dollars`,
    )
    description = 'WSTETH / USD'
    await preflight(config)
  } finally {
    await proxy.close()
    await chain.close()
  }
})
