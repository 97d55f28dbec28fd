import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../ops/clock.ts'
import { type ChainConfig, Secret } from '../ops/config.ts'
import type { BlockRef, Feed, Resume } from './feed.ts'
import { FeedError } from './feedError.ts'
import { type FeedOptions, openFeed } from './openFeed.ts'
import { Consumer } from './testing/consumer.ts'
import {
  blockAt,
  EVERY_KIND,
  latest,
  type LocalChain,
  LOGGER,
  mine,
  mineTransactions,
  reorg,
  REVERTER,
  startLocalChain,
} from './testing/localChain.ts'
import { startRpcProxy } from './testing/rpcProxy.ts'
import { startTcpProxy } from './testing/tcpProxy.ts'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
  await mine(chain, 10)
})
afterAll(() => chain.close())

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

const endpointsOf = (...urls: readonly string[]): ChainConfig['endpoints'] =>
  urls.map((url, at) => ({ name: `node-${at + 1}`, url: new Secret(url) }))

type Following = Partial<FeedOptions> & { readonly of?: LocalChain; readonly config?: Partial<ChainConfig> }

async function follow({ of = chain, config, ...options }: Following = {}): Promise<Consumer> {
  const feed = await openFeed({ chain: of.config(config), clock: systemClock, resume: null, ...options })
  const tip = options.resume?.tip
  const consumer = new Consumer(feed, tip === undefined ? {} : { tip })
  open.push(consumer)
  return consumer
}

const refOf = ({ number, hash, timeMs }: BlockRef): BlockRef => ({ number, hash, timeMs })
const resumeOf = ({ chain: blocks }: Consumer, finalized: Resume['finalized'] = null): Resume => {
  const undoable = blocks.filter(({ number }) => number > (finalized?.number ?? -1)).map(refOf)
  const tip = blocks.at(-1)
  if (tip === undefined) throw new Error('nothing to resume from')
  return { tip: refOf(tip), undoable, finalized }
}

describe.each(['http', 'ws'])('a feed over %s', kind => {
  const config = (): Partial<ChainConfig> => ({
    endpoints: endpointsOf(kind === 'http' ? chain.anvil.url : chain.anvil.wsUrl),
  })

  it('begins with the current head and gives every block in order, with its logs and their proof', async () => {
    const head = await latest(chain)
    const consumer = await follow({ config: config() })
    await consumer.untilTip(head)
    expect(consumer.items[0]).toMatchObject({ kind: 'block', block: { hash: head.hash } })
    await mineTransactions(chain, EVERY_KIND)
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    const [, full, empty] = consumer.chain
    expect(full).toMatchObject({ number: Number(head.number) + 1, parentHash: head.hash, proof: 'receipts' })
    expect(full?.logs.map(log => [log.logIndex, log.address, log.topics.length, log.data.length])).toEqual(
      [0, 3, 6].flatMap(first => [
        [first, LOGGER, 0, 66],
        [first + 1, LOGGER, 1, 66],
        [first + 2, LOGGER, 4, 12],
      ]),
    )
    expect(new Set(full?.logs.map(log => log.transactionHash)).size).toBe(3)
    expect(empty).toMatchObject({ proof: 'receipts', logs: [] })
    expect(consumer.health).toMatchObject({ status: 'HEALTHY', reasons: [] })
  })

  it('fills the gap when 20 blocks come at once', async () => {
    const consumer = await follow({ config: config() })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 20)
    await consumer.untilTip(await latest(chain))
    expect(consumer.chain).toHaveLength(21)
    expect(consumer.of('reorg')).toEqual([])
  })

  it.each([1, 3, 7])('gives a reorganisation of depth %i as one item with its whole branch', async depth => {
    const consumer = await follow({ config: config() })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 8)
    await consumer.untilTip(await latest(chain))
    const before = consumer.chain.map(refOf)
    // Anvil replaces them by as many: the height stays and only hashes tell.
    await reorg(chain, depth)
    const head = await latest(chain)
    expect(Number(head.number)).toBe(before.at(-1)?.number)
    await consumer.untilTip(head)
    const [item, ...more] = consumer.of('reorg')
    expect(more).toEqual([])
    expect(item?.ancestor).toBe(before.at(-1 - depth)?.hash)
    expect(item?.blocks).toHaveLength(depth)
  })
})

describe('a reorganisation', () => {
  it('to a shorter branch is one too', async () => {
    const consumer = await follow()
    await consumer.untilTip(await latest(chain))
    const ancestor = await latest(chain)
    const snapshot = await chain.rpc('evm_snapshot')
    await mine(chain, 5)
    await consumer.untilTip(await latest(chain))
    await chain.rpc('evm_revert', snapshot)
    await mineTransactions(chain, [{ to: LOGGER }])
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toMatchObject([
      { ancestor: ancestor.hash, blocks: [{ logs: { length: 3 } }] },
    ])
  })

  it('may replace the first block that was given', async () => {
    const consumer = await follow()
    const first = await latest(chain)
    await consumer.untilTip(first)
    await reorg(chain, 1)
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toMatchObject([{ ancestor: first.parentHash, blocks: { length: 1 } }])
  })

  it('while the feed was closed is found on resume, and then the blocks after it', async () => {
    const before = await follow()
    await before.untilTip(await latest(chain))
    await mine(chain, 6)
    await before.untilTip(await latest(chain))
    const resume = resumeOf(before)
    await open.pop()?.close()
    await reorg(chain, 4)
    await mine(chain, 12)
    const after = await openFeed({ chain: chain.config(), clock: systemClock, resume })
    const consumer = new Consumer(after)
    open.push(consumer)
    consumer.chain.push(...before.chain)
    await consumer.untilTip(await latest(chain))
    const ancestor = resume.undoable.at(-5)?.hash
    expect(consumer.items.find(({ kind }) => kind !== 'health')).toMatchObject({ kind: 'reorg', ancestor })
    expect(consumer.of('reorg')).toHaveLength(1)
  })

  it('of nothing at all gives nothing but health on resume', async () => {
    const before = await follow()
    await before.untilTip(await latest(chain))
    const resume = resumeOf(before)
    await open.pop()?.close()
    const consumer = await follow({ resume })
    await consumer.until('health', ({ health }) => health?.status === 'HEALTHY')
    expect(consumer.items.map(({ kind }) => kind)).toEqual(['health'])
    expect(consumer.health).toMatchObject({ lag_blocks: 0, head: { block_hash: resume.tip.hash } })
    await mine(chain)
    await consumer.untilTip(await latest(chain))
  })

  it('below what can be undone halts the feed, which keeps saying so', async () => {
    const before = await follow()
    await before.untilTip(await latest(chain))
    await mine(chain, 5)
    await before.untilTip(await latest(chain))
    const { tip, undoable } = resumeOf(before)
    await open.pop()?.close()
    await reorg(chain, 4)
    await mine(chain)
    const finalized = undoable.at(-4) ?? null
    const resume = { tip, undoable: undoable.slice(-3), finalized }
    const consumer = await follow({ resume })
    await consumer.until('HALTED', ({ health }) => health?.reasons[0] === 'HALTED')
    expect(consumer.health?.status).toBe('UNAVAILABLE')
    expect([...consumer.of('block'), ...consumer.of('reorg'), ...consumer.of('finalize')]).toEqual([])
  })

  it('down to the finalized block itself is still undone', async () => {
    const before = await follow()
    await before.untilTip(await latest(chain))
    await mine(chain, 5)
    await before.untilTip(await latest(chain))
    const { tip, undoable } = resumeOf(before)
    await open.pop()?.close()
    await reorg(chain, 3)
    const finalized = undoable.at(-4) ?? null
    const feed = await openFeed({
      chain: chain.config(),
      clock: systemClock,
      resume: { tip, undoable: undoable.slice(-3), finalized },
    })
    const consumer = new Consumer(feed)
    open.push(consumer)
    consumer.chain.push(...before.chain)
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toMatchObject([{ ancestor: finalized?.hash, blocks: { length: 3 } }])
  })

  it('is never what a node in its first sync shows: its head is below what is final', async () => {
    const before = await follow()
    await before.untilTip(await latest(chain))
    const resume = { ...resumeOf(before), undoable: [] }
    await open.pop()?.close()
    const proxy = await startRpcProxy(chain.anvil.url, async (call, fetchAnswer) =>
      call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest'
        ? { result: await blockAt(chain, 3) }
        : fetchAnswer(),
    )
    open.push(proxy)
    const consumer = await follow({ resume, config: { endpoints: endpointsOf(proxy.url, chain.anvil.url) } })
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    await consumer.until('health', ({ health }) => health?.status === 'HEALTHY')
    expect(consumer.of('reorg')).toEqual([])
  })
})

describe('finality', () => {
  it('by the tag moves up only, and only over committed blocks', async () => {
    const quick = await startLocalChain({ slotsInAnEpoch: 2, chainId: 31_338 })
    open.push(quick)
    await mine(quick, 10)
    const consumer = await follow({ of: quick })
    await consumer.untilTip(await latest(quick))
    // The tag is at 6, which was never given.
    expect(consumer.finalized).toBeNull()
    for (const blocks of [6, 3, 1, 8]) {
      await mine(quick, blocks)
      const { number, hash } = await quick.rpc<{ number: string; hash: string }>(
        'eth_getBlockByNumber',
        'finalized',
        false,
      )
      await consumer.until(`final ${number}`, ({ finalized }) => finalized?.hash === hash)
    }
    // The consumer itself fails when one is lower than the last or not on its chain.
    expect(consumer.finalized?.number).toBe(24)
  })

  it('by depth counts from the committed tip', async () => {
    const consumer = await follow({ config: { finality: { kind: 'depth', depth: 3 } } })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 5)
    const { hash } = await blockAt(chain, Number((await latest(chain)).number) - 3)
    await consumer.until('final', ({ finalized }) => finalized?.hash === hash)
  })

  it('is not said of blocks that were taken and never committed', async () => {
    const feed = await openFeed({
      chain: chain.config({ finality: { kind: 'depth', depth: 0 } }),
      clock: systemClock,
      resume: null,
    })
    const consumer = new Consumer(feed, { commits: false })
    open.push(consumer)
    await consumer.untilTip(await latest(chain))
    await mine(chain, 3)
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('finalize')).toEqual([])
    const second = consumer.chain[1]
    if (second === undefined) throw new Error('no second block')
    feed.processed(second)
    await consumer.until('final', ({ finalized }) => finalized?.hash === second.hash)
  })
})

describe('a consumer that does not pull', () => {
  it('makes the feed wait: at most eight blocks are fetched ahead', async () => {
    const proxy = await startRpcProxy(chain.anvil.url)
    open.push(proxy)
    const feed = await openFeed({
      chain: chain.config({ endpoints: endpointsOf(proxy.url) }),
      clock: systemClock,
      resume: null,
    })
    open.push(feed)
    const receipts = () => proxy.calls.filter(({ method }) => method === 'eth_getBlockReceipts').length
    await expect.poll(receipts).toBe(1)
    await mine(chain, 30)
    await expect.poll(receipts).toBe(8)
    const polls = proxy.calls.length
    await expect.poll(() => proxy.calls.length).toBeGreaterThan(polls + 3)
    expect(receipts()).toBe(8)
    const consumer = new Consumer(feed)
    open.push(consumer)
    await consumer.untilTip(await latest(chain))
    expect(consumer.chain).toHaveLength(31)
  })
})

describe('opening', () => {
  const failureOf = async (config: ChainConfig): Promise<FeedError> => {
    try {
      open.push(await openFeed({ chain: config, clock: systemClock, resume: null }))
    } catch (error) {
      if (error instanceof FeedError) return error
      throw error
    }
    return expect.unreachable('it opened')
  }

  it('fails when no endpoint serves the chain, with what was expected and received of each', async () => {
    const { genesisHash } = chain.config()
    const other = `0x${'ab'.repeat(32)}` as const
    const urls = [chain.anvil.url, chain.anvil.wsUrl]
    const byGenesis = await failureOf(chain.config({ genesisHash: other, endpoints: endpointsOf(...urls) }))
    expect(byGenesis).toMatchObject({ code: 'NO_ENDPOINT', retryable: false })
    for (const name of ['node-1', 'node-2'])
      expect(byGenesis.message).toContain(
        `endpoint ${name}: expected chain 31337 with genesis ${other}, received chain 31337 with genesis ${genesisHash}`,
      )
    const byId = await failureOf(chain.config({ chainId: 56, endpoints: endpointsOf(...urls) }))
    expect(byId.message).toContain(`expected chain 56 with genesis ${genesisHash}, received chain 31337`)
    for (const { message } of [byGenesis, byId]) expect(message).not.toContain(`${chain.anvil.port}`)
  })

  it('fails, and may be tried again, when none is there', async () => {
    const failure = await failureOf(
      chain.config({
        endpoints: endpointsOf('http://127.0.0.1:1/secret-key', 'ws://127.0.0.1:1/secret-key'),
      }),
    )
    expect(failure).toMatchObject({ code: 'NO_ENDPOINT', retryable: true })
    expect(failure.message).toContain('endpoint node-1: eth_chainId failed: ECONNREFUSED')
    expect(failure.message).toContain('endpoint node-2: the WebSocket could not be opened')
    expect(JSON.stringify(failure) + failure.stack).not.toMatch(/secret-key|127\.0\.0\.1/)
  })

  it('goes on with the endpoints that are right and shows the others', async () => {
    const wrong = await startLocalChain({ chainId: 31_339 })
    open.push(wrong)
    const consumer = await follow({ config: { endpoints: endpointsOf(wrong.anvil.url, chain.anvil.url) } })
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    await consumer.until('health', ({ health }) => health?.status === 'HEALTHY')
    expect(consumer.health?.endpoints.map(({ name, status }) => [name, status])).toEqual([
      ['node-1', 'WRONG_CHAIN'],
      ['node-2', 'OK'],
    ])
  })
})

describe('rpc', () => {
  let feed: Feed
  const at = async () => (await latest(chain)).hash
  const start = async (...urls: readonly string[]): Promise<void> => {
    feed = await openFeed({
      chain: chain.config({ endpoints: endpointsOf(...urls) }),
      clock: systemClock,
      resume: null,
    })
    open.push(feed)
  }

  it('calls and reads code at a block hash', async () => {
    await start(chain.anvil.url)
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
    open.push(proxy)
    await start(proxy.url, chain.anvil.url)
    const to = `0x${'30'.repeat(20)}` as const
    await chain.rpc('anvil_setCode', to, code)
    expect(await feed.rpc.call(to, '0x', await at())).toBeNull()
    expect(proxy.calls.filter(({ method }) => method === 'eth_call').length).toBeLessThanOrEqual(1)
  })

  it('asks another endpoint when one fails', async () => {
    const proxy = await startRpcProxy(chain.anvil.url, (call, fetchAnswer) =>
      call.method === 'eth_call' ? { error: { code: -32000, message: 'header not found' } } : fetchAnswer(),
    )
    open.push(proxy)
    await start(proxy.url, chain.anvil.url)
    expect(await feed.rpc.call(LOGGER, '0x', await at())).toBe('0x')
  })

  it('fails with a FeedError when no endpoint knows the block, and with the reason of an abort', async () => {
    await start(chain.anvil.url)
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
