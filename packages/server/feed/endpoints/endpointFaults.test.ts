/** Faults of faults.md in how an endpoint behaves, on a real chain through the fault proxy. */
import { afterEach, describe, expect, it } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import type { Fault, Rule } from '../../../world/proxy/rule.ts'
import type { FeedLog } from '../feedLog.ts'
import { DEFAULT_LIMITS } from '../transport/connection.ts'
import type { Consumer } from '../testing/consumer.ts'
import { chainOfFile, closeAll, endpointsOf, follow, forwardClock, keep } from '../testing/following.ts'
import {
  blockAt,
  EVERY_KIND,
  latest,
  LOGGER,
  mine,
  mineTransactions,
  startLocalChain,
} from '../testing/localChain.ts'
import { expectFinalChain } from '../testing/oracle.ts'

/** Everything said in these tests; none of it may name an address. */
const lines: string[] = []
const log: FeedLog = (_level, message, fields) => void lines.push(JSON.stringify([message, fields]))
// In front of the chain's own, so that it runs after what a test kept is closed.
afterEach(() => {
  expect(lines.join('\n')).not.toMatch(/127\.0\.0\.1|localhost|a-secret-key/)
  lines.length = 0
})
const chain = await chainOfFile(5)

const proxied = async (url = chain.anvil.url, ...rules: readonly Rule[]): Promise<FaultProxy> =>
  keep(await startFaultProxy({ url, seed: 5, rules }))

const SHORT_SILENCE = { leastMs: 200, blocks: 0 }
type Options = NonNullable<Parameters<typeof follow>[1]>
const over = (urls: readonly string[], options: Options = {}): Promise<Consumer> =>
  follow(chain, { log, ...options, config: { ...options.config, endpoints: endpointsOf(...urls) } })

const count = (proxy: FaultProxy, method: string): number =>
  proxy.calls.filter(call => call.method === method).length

async function expectNoEndpoint(consumer: Consumer, status: string): Promise<void> {
  await consumer.until('health', ({ health }) => health !== undefined)
  expect(consumer.health).toMatchObject({ status: 'UNAVAILABLE', endpoints: [{ status }] })
  expect(consumer.health?.reasons[0]).toBe('NO_ENDPOINT')
  expect(consumer.chain).toEqual([])
}

const statusOf = ({ health }: Consumer, at: number): string | undefined => health?.endpoints[at]?.status

/** Health is given on change and every 15 s; here the clock is set on until it shows what is wanted. */
async function untilHealth(
  consumer: Consumer,
  forward: (ms: number) => void,
  condition: (consumer: Consumer) => boolean,
): Promise<void> {
  await expect
    .poll(
      () => {
        forward(15_001)
        return condition(consumer)
      },
      { timeout: 60_000, interval: 100 },
    )
    .toBe(true)
}

describe('F6: a provider frozen at a block, which still answers', () => {
  it('F6: is left for another one, and shown as lagging with its head', async () => {
    const { clock, forward } = forwardClock()
    const frozen = await proxied()
    const consumer = await over([frozen.url, chain.anvil.url], { clock, silence: SHORT_SILENCE })
    const at = await latest(chain)
    await consumer.untilTip(at)
    frozen.add({ fault: { kind: 'tags', tags: { latest: Number(at.number) } } })
    // At 200 ms a block, 20 s are 100 blocks.
    await mine(chain, 101)
    await consumer.untilTip(await latest(chain))
    await untilHealth(consumer, forward, each => statusOf(each, 0) === 'LAGGING')
    expect(consumer.health?.endpoints[0]?.head).toBe(Number(at.number))
  })
})

describe('F8: a provider in its first sync', () => {
  it('F8: is no deep reorganisation and is not followed', async () => {
    const before = await over([chain.anvil.url])
    await before.untilTip(await latest(chain))
    const { tip } = before
    if (tip === undefined) throw new Error('no tip')
    await closeAll()
    const syncing = await proxied(chain.anvil.url, {
      fault: { kind: 'tags', tags: { latest: 2, finalized: 0 } },
    })
    const resume = { tip, undoable: [], finalized: tip }
    const consumer = await over([syncing.url, chain.anvil.url], { after: before, resume })
    await mine(chain, 2)
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toEqual([])
    expect(consumer.healths.flatMap(({ reasons }) => reasons)).not.toContain('HALTED')
  })
})

describe('F9: a provider of another chain', () => {
  it('F9: is refused at the start, with what was expected and received', async () => {
    const wrong = await proxied(chain.anvil.url, {
      method: 'eth_chainId',
      fault: { kind: 'change', change: () => '0x1' },
    })
    await expectNoEndpoint(await over([`${wrong.url}/a-secret-key`]), 'WRONG_CHAIN')
    expect(lines.join('\n')).toMatch(/expected chain 31337 .*received chain 1 /)
  })

  it.each(['http', 'ws'] as const)('F9: that it has become is ejected at run time, over %s', async kind => {
    const { clock, forward } = forwardClock()
    const proxy = await proxied()
    const consumer = await over([kind === 'http' ? proxy.url : proxy.wsUrl, chain.anvil.url], { clock })
    await consumer.untilTip(await latest(chain))
    proxy.add({ method: 'eth_chainId', fault: { kind: 'change', change: () => '0x1' } })
    proxy.cut()
    await untilHealth(consumer, forward, each => statusOf(each, 0) === 'WRONG_CHAIN')
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    await expectFinalChain(consumer, chain)
  })
})

describe('F10: the same chain id, another history', () => {
  it('F10: is refused by its first block', async () => {
    const other = keep(await startLocalChain({ timestamp: 1_600_000_000 }))
    await expectNoEndpoint(await over([other.anvil.url]), 'WRONG_CHAIN')
    expect(lines.join('\n')).toMatch(/received chain 31337 with genesis/)
  })

  it('F10: is refused by the pinned block when the first one is shared', async () => {
    const timestamp = Math.floor(Date.now() / 1000) - 100
    const ours = keep(await startLocalChain({ timestamp }))
    const fork = keep(await startLocalChain({ timestamp }))
    await mine(ours, 3)
    await fork.rpc('anvil_setCoinbase', LOGGER)
    await mine(fork, 5)
    const checkpoint = { number: 2, hash: (await blockAt(ours, 2)).hash }
    const pinned = { log, config: { checkpoint, endpoints: endpointsOf(fork.anvil.url) } }
    await expectNoEndpoint(await follow(ours, pinned), 'WRONG_CHAIN')
    expect(lines.join('\n')).toMatch(/expected block 2 to be 0x.*received 0x/)
    const consumer = await follow(ours, {
      config: { checkpoint, endpoints: endpointsOf(fork.anvil.url, ours.anvil.url) },
    })
    await consumer.untilTip(await latest(ours))
    const young = { number: 1000, hash: checkpoint.hash }
    const config = { checkpoint: young, endpoints: endpointsOf(ours.anvil.url) }
    await expectNoEndpoint(await follow(ours, { config }), 'FAILING')
  })
})

describe('F11, F12: subscriptions', () => {
  it('F11: that are silent are noticed, the head is polled, and they are renewed', async () => {
    const proxy = await proxied(chain.anvil.url, { method: 'eth_subscription', fault: { kind: 'drop' } })
    // At this block time nothing but the watchdog would ask within 4 s.
    const consumer = await over([proxy.wsUrl], { silence: SHORT_SILENCE, config: { blockTimeMs: 60_000 } })
    await consumer.untilTip(await latest(chain))
    for (let n = 0; n < 20 && count(proxy, 'eth_subscribe') < 2; n++) {
      await mine(chain)
      await consumer.untilTip(await latest(chain))
    }
    expect(count(proxy, 'eth_subscribe')).toBeGreaterThan(1)
    proxy.clear()
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    await expectFinalChain(consumer, chain)
  })

  it('F12: are renewed after a reconnection, and the gap is filled', async () => {
    const proxy = await proxied()
    const consumer = await over([proxy.wsUrl], { config: { blockTimeMs: 60_000 } })
    await consumer.untilTip(await latest(chain))
    proxy.add({ method: 'connect', nth: [1, 2], fault: { kind: 'status', status: 503 } })
    proxy.cut()
    await mine(chain, 7)
    await consumer.untilTip(await latest(chain))
    expect(count(proxy, 'eth_subscribe')).toBe(2)
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    await expectFinalChain(consumer, chain)
    expect(consumer.of('reorg')).toEqual([])
  })
})

describe('F27: the last head of a subscription left out, then silence', () => {
  it('F27: is requested after a third of the time that makes a gap, and nothing is withdrawn', async () => {
    const { clock, forward } = forwardClock()
    const proxy = await proxied()
    const consumer = await over([proxy.wsUrl], { clock, config: { blockTimeMs: 1000 } })
    await consumer.untilTip(await latest(chain))
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    const lost = proxy.add({ method: 'eth_subscription', fault: { kind: 'drop' } })
    await mine(chain)
    await expect.poll(() => lost.fired(), { timeout: 30_000 }).toBe(1)
    lost.remove()
    forward(5001)
    await consumer.untilTip(await latest(chain))
    await expect.poll(() => count(proxy, 'eth_subscribe'), { timeout: 30_000 }).toBe(2)
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    expect(consumer.healths.map(({ status }) => status)).not.toContain('GAP')
    await expectFinalChain(consumer, chain)
  })
})

describe('calls for a block', () => {
  it('are one over WebSocket: the header comes with the head', async () => {
    const proxy = await proxied()
    const consumer = await over([proxy.wsUrl], { config: { blockTimeMs: 1000 } })
    await consumer.untilTip(await latest(chain))
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    proxy.calls.length = 0
    for (let blocks = 0; blocks < 10; blocks++) {
      await mineTransactions(chain, EVERY_KIND)
      await consumer.untilTip(await latest(chain))
    }
    expect(count(proxy, 'eth_getBlockReceipts')).toBe(10)
    expect(count(proxy, 'eth_getBlockByHash')).toBe(0)
    // What is left are questions about finality.
    expect(proxy.calls.filter(({ params }) => params[0] === 'latest')).toEqual([])
    expect(new Set(consumer.chain.map(({ proof }) => proof))).toEqual(new Set(['receipts']))
    await expectFinalChain(consumer, chain)
  })

  it('are two over WebSocket when a pushed head lacks fields of its header', async () => {
    const change = (head: unknown) => ({ ...(head as object), mixHash: undefined })
    const proxy = await proxied(chain.anvil.url, {
      method: 'eth_subscription',
      fault: { kind: 'change', change },
    })
    const consumer = await over([proxy.wsUrl], { config: { blockTimeMs: 1000 } })
    await consumer.untilTip(await latest(chain))
    await mineTransactions(chain, EVERY_KIND)
    await consumer.untilTip(await latest(chain))
    expect(count(proxy, 'eth_getBlockByHash')).toBeGreaterThan(0)
    expect(consumer.tip?.proof).toBe('receipts')
  })

  it('need the list of transactions when there are no receipts by block', async () => {
    const proxy = await proxied(chain.anvil.url, {
      method: 'eth_getBlockReceipts',
      fault: { kind: 'error', code: -32_601, message: 'Method not found' },
    })
    const consumer = await over([proxy.wsUrl], { config: { blockTimeMs: 1000 } })
    await consumer.untilTip(await latest(chain))
    await mineTransactions(chain, EVERY_KIND)
    await consumer.untilTip(await latest(chain))
    await expectFinalChain(consumer, chain)
  })
})

describe('a head whose blocks no endpoint has', () => {
  it('is shown with the missing blocks, and is a gap once they are 15 s apart', async () => {
    const { clock, forward } = forwardClock()
    const proxy = await proxied()
    await mine(chain)
    const consumer = await over([proxy.url], { clock, config: { blockTimeMs: 1000 } })
    await consumer.untilTip(await latest(chain))
    const processed = consumer.tip?.number
    const refusing = proxy.add({
      method: 'eth_getBlockReceipts',
      fault: { kind: 'error', code: -32_000, message: 'not now' },
    })
    forward(20_000)
    await chain.rpc('anvil_mine', '0x14', '0x1')
    const head = Number((await latest(chain)).number)
    await consumer.until('a gap', ({ health }) => health?.status === 'GAP')
    expect(consumer.health).toMatchObject({
      reasons: ['BEHIND'],
      head: { block_number: head },
      processed: { block_number: processed },
      lag_blocks: 20,
    })
    refusing.remove()
    await consumer.untilTip(await latest(chain))
  })

  it.each([17, 25, 30])('is no gap %i s behind the clock while none is missing', async seconds => {
    const { clock, forward } = forwardClock()
    forward(seconds * 1000)
    const consumer = await over([chain.anvil.url], { clock, config: { blockTimeMs: 1000 } })
    for (let blocks = 0; blocks < 5; blocks++) {
      const now = Math.floor(Date.now() / 1000)
      const { timestamp } = await chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
      if (now > Number(timestamp)) await chain.rpc('evm_setNextBlockTimestamp', now)
      await mine(chain)
      await consumer.untilTip(await latest(chain))
    }
    await consumer.until('health', ({ health }) => health !== undefined)
    const isGap = ({ status }: { readonly status: string }) => status === 'GAP' || status === 'UNAVAILABLE'
    expect(consumer.healths.filter(isGap)).toEqual([])
  })
})

describe('F15: too many requests and server errors, from all providers at once', () => {
  it('F15: are waited out as asked, and the feed recovers by itself', async () => {
    const [first, second] = [await proxied(), await proxied()]
    const consumer = await over([first.url, second.url])
    await consumer.untilTip(await latest(chain))
    const times: number[] = []
    const limited = first.add({
      fault: { kind: 'wait', until: () => Promise.resolve(times.push(performance.now())) },
    })
    first.add({ fault: { kind: 'status', status: 429, headers: { 'retry-after': '1' } } })
    second.add({ nth: [1, 6], fault: { kind: 'status', status: 503 } })
    second.add({ nth: [7, 1000], fault: { kind: 'status', status: 503, headers: { 'retry-after': '1' } } })
    await mine(chain, 3)
    // Calls that were under way together come back together; the next one a second later.
    const gaps = (): readonly number[] => times.slice(1).map((atMs, n) => atMs - (times[n] as number))
    await expect.poll(() => Math.max(0, ...gaps()), { timeout: 30_000 }).toBeGreaterThan(900)
    expect(limited.fired()).toBeGreaterThan(1)
    first.clear()
    second.clear()
    await consumer.untilTip(await latest(chain))
    await mineTransactions(chain, EVERY_KIND)
    await consumer.untilTip(await latest(chain))
    await expectFinalChain(consumer, chain)
  })
})

describe('F16: a response that does not end', () => {
  const faults: readonly (readonly [what: string, fault: Fault])[] = [
    ['hangs after the request', { kind: 'hang', after: 'request' }],
    ['hangs after the headers', { kind: 'hang', after: 'headers' }],
    ['is dripped', { kind: 'drip', bytes: 1, everyMs: 100 }],
  ]
  it.each(faults)(
    'F16: because it %s is given up at the deadline, its socket with it',
    async (_what, fault) => {
      const limits = { ...DEFAULT_LIMITS }
      const proxy = await proxied()
      const consumer = await over([proxy.url, chain.anvil.url], { limits })
      await consumer.untilTip(await latest(chain))
      limits.deadlineMs = 400
      limits.overMs = 400
      const rule = proxy.add({ method: 'eth_getBlockReceipts', fault })
      // Either node may be the one that is asked, on a busy machine one of them many times in a row.
      const isMet = async () => {
        await mineTransactions(chain, EVERY_KIND)
        await consumer.untilTip(await latest(chain))
        return rule.fired() > 0
      }
      await expect.poll(isMet).toBe(true)
      await expectFinalChain(consumer, chain)
      proxy.clear()
      await expect.poll(() => proxy.underWay()).toBe(0)
    },
  )
})

describe('F17: an invalid response', () => {
  const bodies: readonly (readonly [what: string, fault: Fault])[] = [
    ['a gigabyte', { kind: 'body', body: ' '.repeat(65_536), repeat: 16_384 }],
    ['nested a million times', { kind: 'body', body: '['.repeat(1_000_000) }],
    ['JSON that is cut', { kind: 'truncate', share: 0.6, isClean: true }],
    ['a page', { kind: 'body', body: '<!doctype html><html>Busy</html>' }],
    ['of another id', { kind: 'body', body: '{"jsonrpc":"2.0","id":123456789,"result":[]}' }],
    ['a batch', { kind: 'body', body: '[{"jsonrpc":"2.0","id":1,"result":[]}]' }],
  ]
  it.each(bodies)('F17: %s is the provider’s fault, and another one is asked', async (_what, fault) => {
    const proxy = await proxied()
    const consumer = await over([proxy.url, chain.anvil.url])
    await consumer.untilTip(await latest(chain))
    const rule = proxy.add({ method: 'eth_getBlockReceipts', fault })
    for (let n = 0; n < 20 && rule.fired() === 0; n++) {
      await mineTransactions(chain, EVERY_KIND)
      await consumer.untilTip(await latest(chain))
    }
    expect(rule.fired()).toBeGreaterThan(0)
    await expectFinalChain(consumer, chain)
    // 16 MiB, and what the two ends of a socket may buffer.
    expect(proxy.sentBytes() / rule.fired()).toBeLessThan(40 * 1024 * 1024)
  })
})

describe('F21: no blocks', () => {
  it('F21: on the chain, confirmed by two providers, is distinguished from a provider’s halt', async () => {
    const { clock, forward } = forwardClock()
    const proxy = await proxied()
    await mine(chain)
    const consumer = await over([chain.anvil.url, proxy.url], { clock, silence: SHORT_SILENCE })
    await consumer.untilTip(await latest(chain))
    await expect.poll(() => count(proxy, 'eth_getBlockByNumber')).toBeGreaterThan(2)
    forward(21_000)
    await consumer.until('a stall', ({ health }) => health?.reasons.join() === 'HEAD_OLD,CHAIN_STALLED')
    expect(consumer.health?.status).toBe('DEGRADED')
    forward(600_000)
    await consumer.until('no head', ({ health }) => health?.reasons[0] === 'NO_VERIFIED_HEAD')
    expect(consumer.health?.status).toBe('UNAVAILABLE')
  })

  it('F21: from the only provider is an old head and no more', async () => {
    const { clock, forward } = forwardClock()
    await mine(chain)
    const consumer = await over([chain.anvil.url], { clock })
    await consumer.untilTip(await latest(chain))
    forward(21_000)
    await consumer.until('an old head', ({ health }) => health?.reasons.includes('HEAD_OLD') === true)
    expect(consumer.health?.reasons).toEqual(['HEAD_OLD'])
  })
})
