import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../ops/config.ts'
import type { Feed } from './feed.ts'
import { closeAll, endpointsOf, keep, start } from './testing/following.ts'
import { latest, type LocalChain, LOGGER, mine, REVERTER, startLocalChain } from './testing/localChain.ts'
import { startRpcProxy } from './testing/rpcProxy.ts'

let chain: LocalChain
let feed: Feed
beforeAll(async () => {
  chain = await startLocalChain()
  await mine(chain)
})
afterAll(() => chain.close())
afterEach(closeAll)

const at = async (): Promise<Hex> => (await latest(chain)).hash

async function serve(...urls: readonly string[]): Promise<void> {
  feed = await start(chain, { config: { endpoints: endpointsOf(...urls) } })
}

describe('rpc', () => {
  it('calls and reads code at a block hash', async () => {
    await serve(chain.anvil.url)
    expect(await feed.rpc.call(LOGGER, '0x', await at())).toBe('0x')
    expect(await feed.rpc.code(REVERTER, await at())).toBe('0x60006000fd')
    expect(await feed.rpc.code(`0x${'99'.repeat(20)}`, await at())).toBe('0x')
  })

  it.each([
    ['revert', '0x60006000fd'],
    ['an invalid opcode', '0xfe'],
    ['a bad jump', '0x600556'],
    ['an empty stack', '0x01'],
  ])('answers null for %s, after one call', async (_what, code) => {
    const proxy = await startRpcProxy(chain.anvil.url)
    keep(proxy)
    await serve(proxy.url, chain.anvil.url)
    const to = `0x${'30'.repeat(20)}` as const
    await chain.rpc('anvil_setCode', to, code)
    expect(await feed.rpc.call(to, '0x', await at())).toBeNull()
    expect(proxy.calls.filter(({ method }) => method === 'eth_call').length).toBeLessThanOrEqual(1)
  })

  it('asks another endpoint when one fails', async () => {
    const proxy = await startRpcProxy(chain.anvil.url, (call, fetchAnswer) =>
      call.method === 'eth_call' ? { error: { code: -32000, message: 'header not found' } } : fetchAnswer(),
    )
    keep(proxy)
    await serve(proxy.url, chain.anvil.url)
    expect(await feed.rpc.call(LOGGER, '0x', await at())).toBe('0x')
  })

  it('fails with a FeedError when no endpoint knows the block, and with the reason of an abort', async () => {
    await serve(chain.anvil.url)
    const unknown = `0x${'11'.repeat(32)}` as const
    await expect(feed.rpc.call(LOGGER, '0x', unknown)).rejects.toMatchObject({
      name: 'FeedError',
      code: 'RPC_ERROR',
      endpoint: 'node-1',
    })
    const reason = new Error('no longer wanted')
    await expect(feed.rpc.call(LOGGER, '0x', await at(), AbortSignal.abort(reason))).rejects.toBe(reason)
    await feed.close()
    await expect(feed.rpc.code(LOGGER, unknown)).rejects.toMatchObject({ code: 'FEED_CLOSED' })
  })
})
