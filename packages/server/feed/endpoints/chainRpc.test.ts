import { describe, expect, it } from 'vitest'
import type { Hex } from '../../ops/hex.ts'
import type { Feed } from '../feed.ts'
import { chainOfFile, endpointsOf, keep, start } from '../testing/following.ts'
import { latest, LOGGER, mine, REVERTER, startLocalChain } from '../testing/localChain.ts'
import { type Rule, type RpcCall, startRpcProxy } from '../testing/rpcProxy.ts'

let feed: Feed
const chain = await chainOfFile(1)

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

  it('sends calls made together for one block in one request', async () => {
    const proxy = await startRpcProxy(chain.anvil.url)
    keep(proxy)
    await serve(proxy.url)
    const hash = await at()
    const answers = [LOGGER, REVERTER, LOGGER].map(to => feed.rpc.call(to, '0x', hash))
    expect(await Promise.all(answers)).toEqual(['0x', null, '0x'])
    const ids = proxy.calls.filter(({ method }) => method === 'eth_call').map(({ id }) => id)
    // Those of a batch follow one another.
    expect(ids).toEqual([0, 1, 2].map(n => (ids[0] ?? 0) + n))
  })

  describe('over an endpoint that takes no block hash', () => {
    const isByHash = ({ method, params }: RpcCall): boolean =>
      method === 'eth_call' && typeof params[1] === 'object'
    const refusing: Rule = (call, fetchAnswer) =>
      isByHash(call) ? { error: { code: -32602, message: 'invalid argument 1' } } : fetchAnswer()

    it('calls by number, checks the hash at it before and after, and tries calls by hash only once', async () => {
      const proxy = await startRpcProxy(chain.anvil.url, refusing)
      keep(proxy)
      const lines: string[] = []
      feed = await start(chain, {
        config: { endpoints: endpointsOf(proxy.url) },
        log: (_level, message) => void lines.push(message),
      })
      const hash = await at()
      for (let n = 0; n < 3; n++) expect(await feed.rpc.call(LOGGER, '0x', hash)).toBe('0x')
      expect(await feed.rpc.call(REVERTER, '0x', hash)).toBeNull()
      expect(proxy.calls.filter(isByHash)).toHaveLength(1)
      expect(lines).toContain(
        'endpoint node-1: eth_call with blockHash refused (-32602); ' +
          'falling back to calls by block number, with its hash checked before and after',
      )
    })

    it.each(['before', 'after'])('refuses a response when another block is at the number %s', async when => {
      const fork = keep(await startLocalChain())
      await fork.rpc('anvil_setCoinbase', LOGGER)
      await mine(fork)
      const { number, hash } = await latest(chain)
      let isCalled = false
      const proxy = await startRpcProxy(chain.anvil.url, async (call, fetchAnswer, response) => {
        if (call.method === 'eth_call' && !isByHash(call)) isCalled = true
        const isCheck = call.method === 'eth_getBlockByNumber' && call.params[0] === number
        if (isCheck && isCalled === (when === 'after'))
          return { result: await fork.rpc('eth_getBlockByNumber', number, false) }
        return refusing(call, fetchAnswer, response)
      })
      keep(proxy)
      await serve(proxy.url)
      await expect(feed.rpc.call(LOGGER, '0x', hash)).rejects.toMatchObject({
        code: 'BLOCK_UNKNOWN',
        endpoint: 'node-1',
      })
    })
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
