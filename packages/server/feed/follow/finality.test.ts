import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import type { Rule } from '../../../world/proxy/rule.ts'
import { systemClock } from '../../ops/clock.ts'
import { Consumer } from '../testing/consumer.ts'
import { closeAll, endpointsOf, follow, keep, start } from '../testing/following.ts'
import {
  blockAt,
  EVERY_KIND,
  latest,
  type LocalChain,
  mine,
  mineTransactions,
  reorg,
  type RpcBlock,
  startLocalChain,
} from '../testing/localChain.ts'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain({ slotsInAnEpoch: 2 })
  await mine(chain, 10)
})
afterAll(() => chain.close())
afterEach(closeAll)

const depth = (blocks: number) => ({ finality: { kind: 'depth', depth: blocks } }) as const

// The consumer itself fails when a final block is lower than the last one or not on its chain.
describe('finality', () => {
  it('by the tag only moves up, and begins with delivered blocks', async () => {
    const consumer = await follow(chain)
    await consumer.untilTip(await latest(chain))
    expect(consumer.finalized).toBeNull()
    for (const blocks of [6, 3, 1, 8]) {
      await mine(chain, blocks)
      const { number, hash } = await chain.rpc<RpcBlock>('eth_getBlockByNumber', 'finalized', false)
      await consumer.until(`final ${number}`, ({ finalized }) => finalized?.hash === hash)
    }
    await consumer.until('health', ({ health }) => health !== undefined)
  })

  it('by depth counts from the committed tip', async () => {
    const consumer = await follow(chain, { config: depth(3) })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 5)
    const { hash } = await blockAt(chain, Number((await latest(chain)).number) - 3)
    await consumer.until('final', ({ finalized }) => finalized?.hash === hash)
  })

  it('does not cover blocks that were taken and never committed', async () => {
    const feed = await start(chain, { config: depth(0) })
    const consumer = keep(new Consumer(feed, { commits: false }))
    await consumer.untilTip(await latest(chain))
    await mine(chain, 3)
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('finalize')).toEqual([])
    const second = consumer.chain[1]
    if (second === undefined) throw new Error('no second block')
    feed.processed(second)
    await consumer.until('final', ({ finalized }) => finalized?.hash === second.hash)
  })

  it('reaches a consumer far behind the finalized block block by block, not at the end', async () => {
    const before = await follow(chain)
    await before.untilTip(await latest(chain))
    await closeAll()
    await mine(chain, 40)
    const feed = await start(chain, { resume: { tip: tipOf(before), undoable: [], finalized: null } })
    const consumer = keep(new Consumer(feed, { commits: false, history: before.chain }))
    await consumer.until('eight blocks', ({ chain: blocks }) => blocks.length > 8)
    const fifth = consumer.chain.at(-4)
    if (fifth === undefined) throw new Error('no fifth block')
    feed.processed(fifth)
    await consumer.until('final', ({ finalized }) => finalized?.hash === fifth.hash)
  })

  it('halts a reorganisation below it', async () => {
    const consumer = await follow(chain, { config: depth(1) })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 4)
    const { hash } = await blockAt(chain, Number((await latest(chain)).number) - 1)
    await consumer.until('final', ({ finalized }) => finalized?.hash === hash)
    await reorg(chain, 2)
    await consumer.until('HALTED', ({ health }) => health?.reasons[0] === 'HALTED')
  })
})

describe('R17: a finality tag that is missing, moves back, or is ahead of the head', () => {
  const tagged = async (rule: Rule): Promise<FaultProxy> =>
    keep(await startFaultProxy({ url: chain.anvil.url, rules: [rule] }))
  const isFinalized: NonNullable<Rule['params']> = ([which]) => which === 'finalized'
  const byDepth = ({ health }: Consumer): boolean => health?.reasons.includes('FINALITY_BY_DEPTH') === true

  it.each([
    ['null', { fault: { kind: 'tags', tags: { finalized: null } } }],
    ['an unknown block', { params: isFinalized, fault: { kind: 'error', code: -32_000, message: 'none' } }],
    ['no such method', { params: isFinalized, fault: { kind: 'error', code: -32_601, message: 'none' } }],
  ] as const)('R17: missing, answered by %s, falls back to the depth of the chain', async (_what, rule) => {
    const proxy = await tagged(rule)
    const consumer = await follow(chain, { config: { endpoints: endpointsOf(proxy.url) } })
    await consumer.untilTip(await latest(chain))
    const first = consumer.tip?.number ?? 0
    for (let n = 0; n < 4; n++) {
      await mine(chain)
      await consumer.untilTip(await latest(chain))
    }
    await mine(chain, 66)
    await consumer.untilTip(await latest(chain))
    await consumer.until('final by depth', ({ finalized }) => (finalized?.number ?? 0) > first)
    expect((consumer.tip?.number ?? 0) - (consumer.finalized?.number ?? 0)).toBeGreaterThanOrEqual(64)
    await consumer.until('named', byDepth)
    // On a busy machine the head may have grown old meanwhile: a block of this moment is not.
    const healthNow = async () => {
      await mine(chain)
      await consumer.untilTip(await latest(chain))
      return consumer.health
    }
    await expect.poll(healthNow).toMatchObject({ status: 'HEALTHY', reasons: ['FINALITY_BY_DEPTH'] })
    // The tag is there again: it decides, and never below what was final.
    proxy.clear()
    await mine(chain, 6)
    const final = await chain.rpc<RpcBlock>('eth_getBlockByNumber', 'finalized', false)
    await consumer.until('final by tag', ({ finalized }) => finalized?.hash === final.hash)
  })

  it('R17: moving back is ignored', async () => {
    const consumer = await follow(chain, { config: { endpoints: endpointsOf((await backwards()).url) } })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 8)
    await consumer.until('final', ({ finalized }) => finalized !== null)
    const highest = consumer.finalized?.number ?? 0
    for (let n = 0; n < 3; n++) {
      await mine(chain)
      await consumer.untilTip(await latest(chain))
    }
    expect(consumer.finalized?.number).toBeGreaterThanOrEqual(highest)
  })

  /** Every second answer names an older block. */
  const backwards = async (): Promise<FaultProxy> => {
    let turn = 0
    const older = async (result: unknown): Promise<unknown> =>
      turn++ % 2 === 0 ? result : blockAt(chain, Math.max(0, Number((result as RpcBlock).number) - 3))
    return tagged({
      params: isFinalized,
      fault: {
        kind: 'handle',
        handle: async (_call, fetchAnswer) => ({ result: await older((await fetchAnswer()).result) }),
      },
    })
  }

  it('R17: far ahead of the head is refused', async () => {
    await mine(chain, 60)
    const head = Number((await latest(chain)).number) - 50
    const proxy = await tagged({ fault: { kind: 'tags', tags: { latest: head, finalized: head + 40 } } })
    const consumer = await follow(chain, { config: { endpoints: endpointsOf(proxy.url) } })
    await consumer.untilTip(await blockAt(chain, head))
    const asked = () => proxy.calls.filter(({ params }) => params[0] === 'finalized').length
    await expect.poll(asked, { timeout: 30_000 }).toBeGreaterThan(0)
    proxy.clear()
    proxy.add({ fault: { kind: 'tags', tags: { latest: head + 1, finalized: head + 40 } } })
    const before = asked()
    await expect.poll(asked, { timeout: 30_000 }).toBeGreaterThan(before)
    await consumer.untilTip(await blockAt(chain, head + 1))
    expect(consumer.of('finalize')).toEqual([])
  })
})

function tipOf({ tip }: Consumer) {
  if (tip === undefined) throw new Error('no tip')
  return tip
}

describe('a block that no endpoint can prove', () => {
  const withoutReceipts = async (): Promise<FaultProxy> => {
    const proxy = keep(await startFaultProxy({ url: chain.anvil.url }))
    proxy.add({
      method: ['eth_getBlockReceipts', 'eth_getTransactionReceipt'],
      fault: { kind: 'error', code: -32_601, message: 'Method not found' },
    })
    return proxy
  }

  it('is delivered, degrades the feed, and does not become final', async () => {
    const only = await withoutReceipts()
    const consumer = await follow(chain, { config: { ...depth(2), endpoints: endpointsOf(only.url) } })
    await consumer.untilTip(await latest(chain))
    // A block without transactions proves itself.
    for (let n = 0; n < 7; n++) await mineTransactions(chain, EVERY_KIND)
    await consumer.untilTip(await latest(chain))
    await consumer.until('DEGRADED', ({ health }) => health?.status === 'DEGRADED')
    expect(consumer.health?.reasons).toContain('NO_PROOF')
    expect(new Set(consumer.chain.slice(-7).map(({ proof }) => proof))).toEqual(new Set(['none']))
    // One more block, whose finality has been looked at by the time it is the tip.
    await mineTransactions(chain, EVERY_KIND)
    await consumer.untilTip(await latest(chain))
    const lastProven = consumer.chain.findLast(({ proof }) => proof === 'receipts')?.number ?? 0
    expect(consumer.finalized?.number ?? 0).toBeLessThanOrEqual(lastProven)
  })

  it('becomes final when a second endpoint agrees', async () => {
    const [first, second] = [await withoutReceipts(), await withoutReceipts()]
    const outage = second.add({ fault: { kind: 'status', status: 503 } })
    let laterMs = 0
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + laterMs }
    const endpoints = endpointsOf(first.url, second.url)
    const consumer = await follow(chain, { clock, config: { ...depth(2), endpoints } })
    await consumer.untilTip(await latest(chain))
    for (let n = 0; n < 7; n++) await mineTransactions(chain, EVERY_KIND)
    await consumer.untilTip(await latest(chain))
    const given = consumer.chain.at(-3)
    expect(outage.fired()).toBeGreaterThan(0)
    const lastProven = consumer.chain.findLast(({ proof }) => proof === 'receipts')?.number ?? 0
    expect(consumer.finalized?.number ?? 0).toBeLessThanOrEqual(lastProven)
    second.clear()
    second.add({
      method: ['eth_getBlockReceipts', 'eth_getTransactionReceipt'],
      fault: { kind: 'error', code: -32_601, message: 'Method not found' },
    })
    laterMs = 120_000
    await mine(chain)
    await consumer.until('final', ({ finalized }) => (finalized?.number ?? 0) >= (given?.number ?? 0), 30_000)
    expect(given?.proof).toBe('none')
  })
})
