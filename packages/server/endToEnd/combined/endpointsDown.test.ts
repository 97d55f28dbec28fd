/** Every endpoint of a chain is away at once: no price is passed off as fresh, the dead are asked seldom, and no block is skipped after. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { backOffMs } from '../../feed/endpoints/backOff.ts'
import { MOST } from '../../feed/endpoints/loadLimit.ts'
import { pass, type RpcProxy, startRpcProxy } from '../../feed/testing/rpcProxy.ts'
import { IS_LONG, sized } from '../testing/combined.ts'
import { CHAIN_ID } from '../testing/plan.ts'
import { isSwap, isTokenRetract } from '../testing/record.ts'
import { roomyClient } from '../testing/roomy.ts'
import { type Block, type Hex, startTestChain, type TestChain } from '../testing/testChain.ts'
import { startTestService, type TestService } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

/** A chain is UNAVAILABLE after 120 s without a verified head. */
const DOWN_MS = sized(3000, 125_000)
/** A price lives no longer than this without its chain. */
const TTL_MS = sized(2000, 30_000)
const ENDPOINTS = 2
const TRADES = 5

let chain: TestChain
let service: TestService
let pair: Hex
const proxies: RpcProxy[] = []
beforeAll(async () => {
  chain = await startTestChain()
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  for (let at = 0; at < ENDPOINTS; at++) proxies.push(await startRpcProxy(chain.world.url))
  service = await startTestService(chain, {
    name: 'down',
    endpoints: proxies.map(({ url }) => url),
    policy: { ttl_ms: { default: TTL_MS, by_chain: { [CHAIN_ID]: TTL_MS } } },
  })
})
afterAll(async () => {
  await service?.close()
  for (const proxy of proxies) await proxy.close()
  await chain?.close()
})

/** They hang up on everyone. */
function goAway(): void {
  for (const proxy of proxies) {
    proxy.calls.length = 0
    proxy.rule = (_call, _fetchAnswer, response) => {
      response.destroy()
      return 'handled'
    }
  }
}

function comeBack(): void {
  for (const proxy of proxies) proxy.rule = pass
}

/** How often one endpoint may be tried again in that time, if every wait is the shortest of its step. */
function mostTries(downMs: number): number {
  let tries = 0
  for (let atMs = backOffMs(1, () => 0); atMs <= downMs; atMs += backOffMs(tries + 1, () => 0)) tries++
  return tries
}

/** An endpoint that is away gets one question, its chain id, until it answers; calls that were under way come before. */
function expectOnlyProbed({ calls }: RpcProxy, downMs: number): void {
  const isOpening = ({ method }: { method: string }): boolean => method === 'eth_chainId'
  const tries = calls.filter(isOpening).length
  expect(tries).toBeLessThanOrEqual(mostTries(downMs))
  const underWay = tries === 0 ? calls.length : calls.findIndex(isOpening)
  expect(underWay).toBeLessThanOrEqual(MOST)
  expect(calls.length - underWay).toBeLessThanOrEqual(2 * tries)
}

it(`all endpoints down for ${DOWN_MS / 1000} s: prices age out, retries back off, and the service recovers without a gap`, async () => {
  const client = await roomyClient(service)
  const quote = () => client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('MOTH') })
  const priced = await chain.untilMining('a price', async () => {
    const said = await quote()
    return said.state === 'PRICED' && said
  })
  const before = priced.as_of.stream_sequence
  goAway()
  const startMs = performance.now()
  const missed: Block[] = []
  for (let at = 0; at < TRADES; at++) missed.push(await chain.run(chain.sellV2(pair, 'MOTH', 10 + at)))

  const aged = await until('the price aged out', async () => {
    const askedAtMs = Date.now()
    const said = await quote()
    // Until then it is the price of before, with the time it holds until.
    if (said.state === 'PRICED') {
      expect(said.as_of.block_number).toBeLessThan((missed[0] as Block).number)
      expect(said.expires_at_ms).toBeGreaterThan(askedAtMs)
    }
    return said.state === 'UNPRICED' && said
  })
  expect(aged.reason).toBe('ROUTE_EXPIRED')
  expect(priced.expires_at_ms).toBeLessThanOrEqual(Date.now())
  const retraction = await service.untilRecord('its retraction', before, isTokenRetract(chain.token('MOTH')))
  expect(retraction.payload.reason).toBe('ROUTE_EXPIRED')
  if (IS_LONG) {
    const health = async () => client.fetchHealth({ chain_id: CHAIN_ID })
    await until('degraded', async () => (await health()).status === 'DEGRADED')
    const worst = await until('unavailable', async () => {
      const reported = await health()
      return reported.status === 'UNAVAILABLE' && reported
    })
    expect(worst.reasons).toContain('NO_VERIFIED_HEAD')
    expect(worst.endpoints.map(({ status }) => status)).toEqual(['FAILING', 'FAILING'])
  }
  await until('long enough', () => performance.now() - startMs > DOWN_MS, DOWN_MS + 180_000)
  for (const proxy of proxies) expectOnlyProbed(proxy, performance.now() - startMs)
  expect((await service.records(before)).filter(isSwap())).toEqual([])

  comeBack()
  // An endpoint that failed for long is asked again within half a minute.
  await until('caught up', async () => {
    const heard = (await service.records(before)).filter(isSwap(pair))
    return heard.length === TRADES
  })
  await chain.untilMining('a price again', async () => (await quote()).state === 'PRICED')
  const records = await service.records(before)
  expect(records.map(each => each.stream_sequence)).toEqual(records.map((_, at) => before + at + 1))
  const swaps = records.filter(isSwap(pair)).map(({ payload }) => payload.block_hash)
  expect(swaps).toEqual(missed.map(({ hash }) => hash))
  // The same thread all along.
  expect(service.faults).toEqual([])
})
