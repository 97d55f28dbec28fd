/** The /metrics of a running service: a chain with a reorganisation, a faulty endpoint, and a stream. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { changing, type RpcProxy, startRpcProxy } from '../feed/testing/rpcProxy.ts'
import { opened } from './testing/handshake.ts'
import { CHAIN_ID, planWith } from './testing/plan.ts'
import { startTestChain, type TestChain } from './testing/testChain.ts'
import { startTestService, type TestService } from './testing/testService.ts'
import { until } from './testing/until.ts'

let chain: TestChain
let liar: RpcProxy
let honest: RpcProxy
let service: TestService
beforeAll(async () => {
  chain = await startTestChain(planWith())
  liar = await startRpcProxy(chain.world.url)
  honest = await startRpcProxy(chain.world.url)
  service = await startTestService(chain, { tokens: ['MOTH'], endpoints: [liar.url, honest.url] })
})
afterAll(async () => {
  await service?.close()
  await liar?.close()
  await honest?.close()
  await chain?.close()
})

/** Every series and its value. */
async function scrape(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line): [string, number] => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}

const series = async (name: string) => (await scrape()).get(name) ?? 0

it('blocks, steps and commits are counted as they happen', async () => {
  const before = await scrape()
  await service.untilTip(await chain.mine(5))
  const now = await scrape()
  const grown = (name: string) => (now.get(name) ?? 0) - (before.get(name) ?? 0)
  expect(grown('assay_verified_blocks_total{chain_id="1"}')).toBe(5)
  expect(grown('assay_engine_step_seconds_count{chain_id="1",input="block"}')).toBe(5)
  expect(grown('assay_engine_step_seconds_sum{chain_id="1",input="block"}')).toBeGreaterThan(0)
  expect(grown('assay_commit_seconds_count{chain_id="1"}')).toBeGreaterThanOrEqual(5)
  const calls = ['node-1', 'node-2'].map(name =>
    grown(`assay_rpc_calls_total{chain_id="1",endpoint="${name}"}`),
  )
  expect(Math.max(...calls)).toBeGreaterThan(0)
})

it('a reorganisation is counted once, with the blocks it replaced', async () => {
  const before = await scrape()
  await service.untilTip(await chain.reorg(2))
  const now = await scrape()
  expect(now.get('assay_reorgs_total{chain_id="1"}')).toBe(1)
  const verified = 'assay_verified_blocks_total{chain_id="1"}'
  expect((now.get(verified) ?? 0) - (before.get(verified) ?? 0)).toBeGreaterThanOrEqual(2)
})

it('a response that failed a check is counted against its endpoint, by name and never by URL', async () => {
  liar.rule = changing('eth_getBlockReceipts', () => [])
  const isLied = () => liar.calls.slice(before).some(({ method }) => method === 'eth_getBlockReceipts')
  const before = liar.calls.length
  // Whichever is asked first, the liar is asked: the other one is late until then.
  honest.rule = async (call, fetchAnswer) => {
    if (call.method === 'eth_getBlockReceipts') await until('the wrong endpoint was asked', isLied)
    return fetchAnswer()
  }
  const pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  const { hash, number } = await chain.run(chain.sellV2(pair, 'MOTH', 10))
  const rejected = 'assay_rpc_rejected_total{chain_id="1",endpoint="node-1"}'
  await until('a refusal', async () => (await series(rejected)) > 0)
  await service.untilTip({ hash, number })
  expect(await series('assay_rpc_rejected_total{chain_id="1",endpoint="node-2"}')).toBe(0)
  const text = await (await fetch(`${service.url}/metrics`)).text()
  expect(text).not.toMatch(/127\.0\.0\.1|wss?:|https?:/)
  // The operator finds it in the log as well, by the same name.
  expect(service.lines.filter(line => line.includes('endpoint failed'))).toContainEqual(
    expect.stringMatching(/"thread":"chain 1".*"endpoint":"node-1".*"code":"BLOCK_REFUSED"/),
  )
})

it('the lag of a chain is shown in blocks and time, and the number of open streams', async () => {
  // As the last health record has it: there is one every 15 s, and a block may be on its way at that moment.
  await until('no lag', async () => (await scrape()).get('assay_chain_lag_blocks{chain_id="1"}') === 0)
  const now = await scrape()
  expect(now.get('assay_chain_lag_ms{chain_id="1"}')).toBe(0)
  expect(now.get('assay_stream_clients')).toBe(0)
  const stream = await opened(service.url, { headers: { authorization: `Bearer ${await service.key()}` } })
  await until('a stream', async () => (await series('assay_stream_clients')) === 1)
  expect(await series('assay_stream_replay_lag')).toBe(0)
  await stream.end()
})

it('requests are counted by route and status, the fast path too', async () => {
  const route = '/v1/quote/token/:chain_id/:token_address'
  const name = (status: number) =>
    `assay_http_requests_total{method="GET",route="${route}",status="${status}"}`
  const [before, key] = [await scrape(), await service.key()]
  const url = `${service.url}/v1/quote/token/${CHAIN_ID}/${chain.token('MOTH')}`
  const headers = { authorization: `Bearer ${key}` }
  for (let n = 0; n < 5; n++) await (await fetch(url, { headers })).text()
  const etag = (await fetch(url, { headers })).headers.get('etag') ?? ''
  expect((await fetch(url, { headers: { ...headers, 'if-none-match': etag } })).status).toBe(304)
  await (await fetch(`${url}x`, { headers })).text()
  const now = await scrape()
  const grown = (which: string) => (now.get(which) ?? 0) - (before.get(which) ?? 0)
  expect([grown(name(200)), grown(name(304)), grown(name(400))]).toEqual([6, 1, 1])
  expect(grown(`assay_http_request_seconds_count{route="${route}"}`)).toBe(8)
})

it('a request that failed because of the chain is in the log by the id in its response', async () => {
  // With one endpoint there is nobody else to ask.
  await service.close()
  liar.rule = (_call, fetchAnswer) => fetchAnswer()
  service = await startTestService(chain, { endpoints: [liar.url] })
  liar.rule = (_call, _fetchAnswer, response) => {
    response.destroy()
    return 'handled'
  }
  const url = `${service.url}/v1/quote/pool/${CHAIN_ID}/0x${'ab'.repeat(20)}?deadline_ms=100`
  const response = await fetch(url, { headers: { authorization: `Bearer ${await service.key()}` } })
  expect([503, 504]).toContain(response.status)
  const id = response.headers.get('x-request-id') ?? ''
  expect(service.lines.some(line => line.includes(`"request_id":"${id}"`))).toBe(true)
})
