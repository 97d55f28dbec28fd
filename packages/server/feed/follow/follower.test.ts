import { describe, expect, it } from 'vitest'
import type { ChainConfig } from '../../config/config.ts'
import { Consumer } from '../testing/consumer.ts'
import {
  chainOfFile,
  closeAll,
  endpointsOf,
  follow,
  forwardClock,
  keep,
  start,
} from '../testing/following.ts'
import {
  blockAt,
  EVERY_KIND,
  latest,
  LOGGER,
  mine,
  mineTransactions,
  startLocalChain,
} from '../testing/localChain.ts'
import { changing, pass, startRpcProxy } from '../testing/rpcProxy.ts'

const chain = await chainOfFile(10)

describe.each(['http', 'ws'])('a feed over %s', kind => {
  const config = (): Partial<ChainConfig> => ({
    endpoints: endpointsOf(kind === 'http' ? chain.anvil.url : chain.anvil.wsUrl),
  })

  it('begins with the current head and delivers every block in order, with its logs and their proof', async () => {
    const head = await latest(chain)
    const consumer = await follow(chain, { config: config() })
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

  it('fills the gap when 20 blocks arrive at once', async () => {
    const consumer = await follow(chain, { config: config() })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 20)
    await consumer.untilTip(await latest(chain))
    expect(consumer.chain).toHaveLength(21)
    expect(consumer.of('reorg')).toEqual([])
  })
})

describe('a feed', () => {
  it('fills the gap that arose while it was closed', async () => {
    const before = await follow(chain)
    await before.untilTip(await latest(chain))
    await closeAll()
    await mine(chain, 12)
    const consumer = await follow(chain, { after: before })
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('block')).toHaveLength(12)
  })

  it('delivers nothing but health when nothing happened while it was closed', async () => {
    const before = await follow(chain)
    await before.untilTip(await latest(chain))
    await closeAll()
    const consumer = await follow(chain, { after: before })
    await consumer.until('health', ({ health }) => health?.status === 'HEALTHY')
    expect(consumer.items.map(({ kind }) => kind)).toEqual(['health'])
    expect(consumer.health).toMatchObject({ lag_blocks: 0, head: { block_hash: before.tip?.hash } })
    await mine(chain)
    await consumer.untilTip(await latest(chain))
  })

  it('waits for a consumer that does not pull: at most eight blocks are fetched ahead', async () => {
    const proxy = keep(await startRpcProxy(chain.anvil.url))
    const feed = await start(chain, { config: { endpoints: endpointsOf(proxy.url) } })
    const receipts = () => proxy.calls.filter(({ method }) => method === 'eth_getBlockReceipts').length
    await expect.poll(receipts).toBe(1)
    await mine(chain, 30)
    await expect.poll(receipts).toBe(8)
    const polls = proxy.calls.length
    await expect.poll(() => proxy.calls.length).toBeGreaterThan(polls + 3)
    expect(receipts()).toBe(8)
    const consumer = keep(new Consumer(feed))
    await consumer.untilTip(await latest(chain))
    expect(consumer.chain).toHaveLength(31)
  })

  it('is healthy again after catching up, even though the blocks it caught up on were verified before', async () => {
    const slow = keep(await startLocalChain())
    const { clock, forward } = forwardClock()
    const proxy = keep(await startRpcProxy(slow.anvil.url))
    const config = { endpoints: endpointsOf(proxy.url), blockTimeMs: 12_000 }
    await mine(slow)
    const feed = await start(slow, { clock, config })
    const items = feed.items(AbortSignal.timeout(60_000))[Symbol.asyncIterator]()
    let processed = 0
    const untilHealth = async (status: string) => {
      for (;;) {
        const { value: item, done } = await items.next()
        if (done === true) throw new Error(`the feed ended before it was ${status}`)
        if (item.kind === 'block') {
          feed.processed(item.block)
          processed += 1
        }
        if (item.kind === 'health' && item.record.status === status) return item.record
      }
    }
    await untilHealth('HEALTHY')
    const receipts = () => proxy.calls.filter(({ method }) => method === 'eth_getBlockReceipts').length
    // The last of six blocks is 13 s old when all are verified, and the first is more than five block times old.
    forward(85_000)
    await slow.rpc('anvil_mine', '0x6', '0xc')
    await expect.poll(receipts).toBe(7)
    expect(await untilHealth('GAP')).toMatchObject({ reasons: ['BEHIND'], lag_blocks: 6 })
    const recovered = untilHealth('HEALTHY')
    await expect.poll(() => processed).toBe(7)
    forward(6000)
    expect(await recovered).toMatchObject({ lag_blocks: 0 })
    expect(receipts()).toBe(7)
  })

  it('refuses a block in the middle that does not link to the one before', async () => {
    const proxy = keep(await startRpcProxy(chain.anvil.url))
    const consumer = await follow(chain, { config: { endpoints: endpointsOf(proxy.url) } })
    await consumer.untilTip(await latest(chain))
    const wrong = Number((await latest(chain)).number) + 3
    // A node behind the same address that is on another fork answers for one number.
    proxy.rule = changing<Readonly<Record<string, unknown>>>('eth_getBlockByNumber', (result, { params }) =>
      params[0] === `0x${wrong.toString(16)}` ? { ...result, parentHash: `0x${'77'.repeat(32)}` } : result,
    )
    await mine(chain, 6)
    const { hash } = await blockAt(chain, wrong - 1)
    await consumer.untilTip({ hash })
    proxy.rule = pass
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toEqual([])
  })

  it('recognises a node that falls back a little, and does not take it for a shorter chain', async () => {
    const proxy = keep(await startRpcProxy(chain.anvil.url))
    const consumer = await follow(chain, { config: { endpoints: endpointsOf(proxy.url) } })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 3)
    await consumer.untilTip(await latest(chain))
    const older = await blockAt(chain, Number((await latest(chain)).number) - 2)
    proxy.calls.length = 0
    proxy.rule = (call, fetchAnswer) => (call.params[0] === 'latest' ? { result: older } : fetchAnswer())
    const polls = () => proxy.calls.filter(({ params }) => params[0] === 'latest').length
    await expect.poll(polls).toBeGreaterThan(3)
    proxy.rule = pass
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toEqual([])
  })

  it('begins as far behind the head as requested on a new chain, and at the head of a shorter chain', async () => {
    await mine(chain, 8)
    const head = await latest(chain)
    const number = Number(head.number)
    const behind = await follow(chain, { config: { startBehindMs: 1000 } })
    await behind.untilTip(head)
    expect(behind.chain.map(({ number }) => number)).toEqual([5, 4, 3, 2, 1, 0].map(back => number - back))
    await closeAll()
    // More than there is, and more than nodes keep the state of.
    const first = await follow(chain, { config: { startBehindMs: 3_600_000 } })
    await first.untilTip(head)
    expect(first.chain[0]?.number).toBe(number > 64 ? number - 64 : number)
  })

  it('is never halted or reorganised by a node in its first sync', async () => {
    const before = await follow(chain)
    await before.untilTip(await latest(chain))
    await closeAll()
    const third = await blockAt(chain, 3)
    const syncing = await startRpcProxy(chain.anvil.url, async (call, fetchAnswer) =>
      call.params[0] === 'latest' ? { result: third } : fetchAnswer(),
    )
    keep(syncing)
    const tip = before.chain.at(-1)
    if (tip === undefined) throw new Error('no tip')
    const consumer = await follow(chain, {
      after: before,
      resume: { tip, undoable: [], finalized: null },
      config: { endpoints: endpointsOf(syncing.url, chain.anvil.url) },
    })
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    await consumer.until('health', ({ health }) => health?.status === 'HEALTHY')
    expect(consumer.of('reorg')).toEqual([])
  })
})
