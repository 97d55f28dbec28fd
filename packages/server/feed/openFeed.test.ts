import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ChainConfig } from '../ops/config.ts'
import { FeedError } from './feedError.ts'
import { closeAll, endpointsOf, follow, forwardClock, keep, start } from './testing/following.ts'
import { latest, type LocalChain, mine, startLocalChain } from './testing/localChain.ts'
import { pass, startRpcProxy } from './testing/rpcProxy.ts'
import { startTcpProxy } from './testing/tcpProxy.ts'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
  await mine(chain)
})
afterAll(() => chain.close())
afterEach(closeAll)

async function failureOf(config: Partial<ChainConfig>): Promise<FeedError> {
  try {
    await start(chain, { config })
  } catch (error) {
    if (error instanceof FeedError) return error
    throw error
  }
  return expect.unreachable('it opened')
}

describe('opening', () => {
  it('fails when no endpoint serves the chain, with what was expected and received of each', async () => {
    const { genesisHash } = chain.config()
    const other = `0x${'ab'.repeat(32)}` as const
    const urls = [chain.anvil.url, chain.anvil.wsUrl]
    const byGenesis = await failureOf({ genesisHash: other, endpoints: endpointsOf(...urls) })
    expect(byGenesis).toMatchObject({ code: 'NO_ENDPOINT', retryable: false })
    for (const name of ['node-1', 'node-2'])
      expect(byGenesis.message).toContain(
        `endpoint ${name}: expected chain 31337 with genesis ${other}, received chain 31337 with genesis ${genesisHash}`,
      )
    const byId = await failureOf({ chainId: 56, endpoints: endpointsOf(...urls) })
    expect(byId.message).toContain(`expected chain 56 with genesis ${genesisHash}, received chain 31337`)
    for (const { message } of [byGenesis, byId]) expect(message).not.toContain(`${chain.anvil.port}`)
  })

  it('fails, and may be tried again, when none is there', async () => {
    const gone = await startTcpProxy(0)
    await gone.close()
    const [host, path] = [`127.0.0.1:${gone.port}`, 'secret-key']
    const endpoints = endpointsOf(`http://${host}/${path}`, `ws://${host}/${path}`)
    const failure = await failureOf({ endpoints })
    expect(failure).toMatchObject({ code: 'NO_ENDPOINT', retryable: true })
    expect(failure.message).toContain('endpoint node-1: eth_chainId failed: ECONNREFUSED')
    expect(failure.message).toContain('endpoint node-2: the WebSocket could not be opened: ECONNREFUSED')
    expect(JSON.stringify(failure) + failure.stack).not.toMatch(/secret-key|127\.0\.0\.1/)
  })

  it('goes on with the endpoints that are right and shows the others', async () => {
    const wrong = keep(await startLocalChain({ chainId: 31_339 }))
    const consumer = await follow(chain, {
      config: { endpoints: endpointsOf(wrong.anvil.url, chain.anvil.url) },
    })
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    await consumer.until('health', ({ health }) => health?.status === 'HEALTHY')
    expect(consumer.health?.endpoints.map(({ name, status }) => [name, status])).toEqual([
      ['node-1', 'WRONG_CHAIN'],
      ['node-2', 'OK'],
    ])
  })
})

describe('health items', () => {
  it('come on every change of status and every 15 s, and never with an address', async () => {
    const { clock, forward } = forwardClock()
    const proxy = keep(await startRpcProxy(chain.anvil.url))
    const endpoints = endpointsOf(`${proxy.url}/a-secret-key`, chain.anvil.wsUrl)
    await mine(chain)
    const consumer = await follow(chain, { clock, config: { endpoints } })
    await consumer.until('the first', ({ health }) => health?.status === 'HEALTHY')
    const said = consumer.healths.length
    forward(15_000)
    await consumer.until('another', ({ healths }) => healths.length > said)
    expect(consumer.health?.reasons).toEqual([])
    forward(10_000)
    await consumer.until('DEGRADED', ({ health }) => health?.status === 'DEGRADED')
    expect(consumer.health?.reasons).toEqual(['HEAD_OLD'])
    forward(100_000)
    await consumer.until('UNAVAILABLE', ({ health }) => health?.status === 'UNAVAILABLE')
    expect(consumer.health?.reasons).toEqual(['NO_VERIFIED_HEAD'])
    expect(consumer.health?.endpoints.map(({ name }) => name)).toEqual(['node-1', 'node-2'])
    expect(JSON.stringify(consumer.items)).not.toMatch(/secret|127\.0\.0\.1|:\/\//)
  })

  it('say nothing at the start, and UNAVAILABLE when no head comes', async () => {
    const { clock, forward } = forwardClock()
    const proxy = keep(
      await startRpcProxy(chain.anvil.url, (call, fetchAnswer) =>
        call.params[0] === 'latest' ? { error: { code: -32000, message: 'not now' } } : fetchAnswer(),
      ),
    )
    const consumer = await follow(chain, { clock, config: { endpoints: endpointsOf(proxy.url) } })
    await expect
      .poll(() => proxy.calls.filter(({ params }) => params[0] === 'latest').length)
      .toBeGreaterThan(2)
    expect(consumer.items).toEqual([])
    forward(10_000)
    await consumer.until('UNAVAILABLE', ({ health }) => health?.reasons[0] === 'NO_VERIFIED_HEAD')
    proxy.rule = pass
    await consumer.untilTip(await latest(chain))
  })
})

describe('closing', () => {
  it('ends the items of a consumer that waits, and may be done twice', async () => {
    const consumer = await follow(chain)
    await consumer.untilTip(await latest(chain))
    await closeAll()
    await expect(consumer.until('anything', () => false)).rejects.toThrow('the feed ended')
    await consumer.close()
  })
})
