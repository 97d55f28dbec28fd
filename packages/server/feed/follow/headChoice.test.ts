/** Which endpoint is followed, on a real chain through fault proxies that are late, alone with a head, or several nodes. */
import { describe, expect, it } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import type { Handle, Rule } from '../../../world/proxy/rule.ts'
import type { Consumer } from '../testing/consumer.ts'
import { chainOfFile, endpointsOf, follow, forwardClock, keep, refOf } from '../testing/following.ts'
import {
  blockAt,
  EVERY_KIND,
  latest,
  LOGGER,
  mine,
  mineTransactions,
  type RpcBlock,
} from '../testing/localChain.ts'
import { expectFinalChain } from '../testing/oracle.ts'

const chain = await chainOfFile(3)

const proxied = async (...rules: readonly Rule[]): Promise<FaultProxy> =>
  keep(await startFaultProxy({ url: chain.anvil.url, rules }))

/** At a block a second, two seconds are two blocks. */
const over = (urls: readonly string[], clock = forwardClock().clock): Promise<Consumer> =>
  follow(chain, { clock, config: { endpoints: endpointsOf(...urls), blockTimeMs: 1000 } })

const hexOf = (number: number): string => `0x${number.toString(16)}`

/** A node that is always so many blocks behind, in what it reports and in what it knows. */
const behind = (blocks: number): Rule => ({
  fault: {
    kind: 'handle',
    handle: async (call, fetchAnswer) => {
      const head = Number((await latest(chain)).number) - blocks
      if (call.params[0] === 'latest') return { result: await blockAt(chain, head) }
      const answer = await fetchAnswer()
      const [number] = [answer.result].flat() as ({ number?: string; blockNumber?: string } | null)[]
      return Number(number?.number ?? number?.blockNumber ?? 0) > head ? { result: null } : answer
    },
  },
})

const statuses = ({ health }: Consumer): readonly string[] =>
  health?.endpoints.map(({ status }) => status) ?? []
const reasons = ({ healths }: Consumer): readonly string[] => healths.flatMap(health => health.reasons)
const statusesEver = ({ healths }: Consumer): readonly string[] => healths.map(({ status }) => status)

const isLatest = ({ params }: { readonly params: readonly unknown[] }): boolean => params[0] === 'latest'

/** A block of the present, whatever the test's clock shows by then. */
const mineAt = async (ms: number): Promise<void> => {
  const { timestamp } = await chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
  const wanted = Math.max(Math.floor(ms / 1000), Number(timestamp) + 1)
  await chain.rpc('evm_setNextBlockTimestamp', wanted)
  await mine(chain)
}

describe('F30: an endpoint behind another one', () => {
  it.each([3, 20, 500])('F30: by %i blocks is not read from, and the best head is followed', async blocks => {
    await mine(chain, blocks)
    const late = await proxied(behind(blocks))
    const consumer = await over([late.url, chain.anvil.url])
    await consumer.untilTip(await latest(chain))
    await mineTransactions(chain, EVERY_KIND)
    const head = await latest(chain)
    await consumer.untilTip(head)
    await consumer.until('the late one seen', each => statuses(each)[0] === 'LAGGING')
    expect(consumer.of('reorg')).toEqual([])
    expect(statusesEver(consumer)).not.toContain('GAP')
    await expectFinalChain(consumer, chain)
    // It catches up and is as good as any other.
    late.clear()
    await consumer.until('OK again', each => statuses(each)[0] === 'OK')
  })

  it('F30: that fell behind later is left for the other, and is read again when it has caught up', async () => {
    const { clock, forward } = forwardClock()
    const freezing = await proxied()
    const consumer = await over([freezing.url, chain.anvil.url], clock)
    await consumer.untilTip(await latest(chain))
    const frozen = Number((await latest(chain)).number)
    freezing.add({ fault: { kind: 'tags', tags: { latest: frozen } } })
    await mine(chain, 4)
    forward(5001)
    await consumer.untilTip(await latest(chain))
    forward(15_001)
    await consumer.until('LAGGING', each => statuses(each)[0] === 'LAGGING')
    freezing.calls.length = 0
    // Its head is still asked for, and nothing else: neither blocks nor finality.
    for (let blocks = 1; blocks <= 3; blocks++) {
      await mine(chain)
      await consumer.untilTip(await latest(chain))
      forward(5001)
      await expect
        .poll(() => freezing.calls.filter(isLatest).length, { timeout: 30_000 })
        .toBeGreaterThanOrEqual(blocks)
    }
    expect(new Set(freezing.calls.map(({ params }) => params[0]))).toEqual(new Set(['latest']))
    freezing.clear()
    forward(15_001)
    await consumer.until('OK', each => statuses(each).join() === 'OK,OK')
  })
})

describe('R-health-5: a head that only one endpoint knows', () => {
  it('is followed, degrades the chain after ten seconds, and no more once another knows it', async () => {
    const { clock, forward } = forwardClock()
    const slow = await proxied()
    const consumer = await over([chain.anvil.url, slow.url], clock)
    await consumer.untilTip(await latest(chain))
    await expect.poll(() => slow.calls.some(isLatest), { timeout: 30_000 }).toBe(true)
    const still = slow.add({
      fault: { kind: 'tags', tags: { latest: Number((await latest(chain)).number) } },
    })
    await mineAt(clock.nowMs())
    await consumer.untilTip(await latest(chain))
    expect(reasons(consumer)).toEqual([])
    forward(10_001)
    await mineAt(clock.nowMs())
    await consumer.until('unconfirmed', ({ health }) => health?.status === 'DEGRADED')
    expect(consumer.health?.reasons).toEqual(['HEAD_UNCONFIRMED'])
    await consumer.untilTip(await latest(chain))
    still.remove()
    for (let blocks = 0; blocks < 4; blocks++) {
      forward(5001)
      await mineAt(clock.nowMs())
      await consumer.untilTip(await latest(chain))
    }
    await consumer.until('well', ({ health }) => health?.status === 'HEALTHY')
    expect(consumer.of('reorg')).toEqual([])
  })

  /** Answers of a branch that the node itself no longer has. */
  async function branchOf(blocks: number): Promise<Handle> {
    const first = Number((await latest(chain)).number) + 1
    await chain.rpc('anvil_setCoinbase', LOGGER)
    for (let n = 0; n < blocks; n++) await mineTransactions(chain, EVERY_KIND.slice(0, 1))
    const numbers = Array.from({ length: blocks }, (_, at) => first + at)
    const answers = new Map<string, unknown>()
    for (const number of numbers) {
      const block = await chain.rpc<RpcBlock>('eth_getBlockByNumber', hexOf(number), false)
      const receipts = await chain.rpc('eth_getBlockReceipts', block.hash)
      answers.set(`eth_getBlockByNumber ${hexOf(number)}`, block)
      answers.set(`eth_getBlockByHash ${block.hash}`, block)
      answers.set(`eth_getBlockReceipts ${block.hash}`, receipts)
      answers.set('eth_getBlockByNumber latest', block)
    }
    await chain.rpc('anvil_rollback', blocks)
    await chain.rpc('anvil_setCoinbase', `0x${'44'.repeat(20)}`)
    return (call, fetchAnswer) => {
      const known = answers.get(`${call.method} ${String(call.params[0])}`)
      return known === undefined ? fetchAnswer() : { result: known }
    }
  }

  async function threeAtOneHead(clock: ReturnType<typeof forwardClock>['clock']) {
    const proxies = [await proxied(), await proxied(), await proxied()] as const
    const consumer = await over(
      proxies.map(({ url }) => url),
      clock,
    )
    await mineAt(clock.nowMs())
    await mineAt(clock.nowMs())
    await consumer.untilTip(await latest(chain))
    const isRead = () => proxies.every(({ calls }) => calls.some(isLatest))
    await expect.poll(isRead, { timeout: 30_000 }).toBe(true)
    return { proxies, consumer, shared: await latest(chain) }
  }

  it('is left for that of the other when no endpoint has its blocks, and read again when the other is gone', async () => {
    const { clock, forward } = forwardClock()
    const [first, second] = [await proxied(), await proxied()]
    const consumer = await over([first.url, second.url], clock)
    await mineAt(clock.nowMs())
    await consumer.untilTip(await latest(chain))
    const still = [first, second].map(proxy =>
      proxy.add({ fault: { kind: 'tags', tags: { latest: consumer.tip?.number ?? 0 } } }),
    )
    const branch = await branchOf(5)
    for (const rule of still) rule.remove()
    first.add({ fault: { kind: 'handle', handle: branch } })
    first.add({ method: 'eth_getBlockReceipts', fault: { kind: 'change', change: () => null } })
    const shown = (each: Consumer): string | undefined => (forward(1000), statuses(each)[0])
    await expect.poll(() => shown(consumer), { timeout: 30_000, interval: 300 }).toBe('SET_ASIDE')
    await mineAt(clock.nowMs())
    await consumer.untilTip(await latest(chain))
    first.clear()
    await second.close()
    await mineAt(clock.nowMs())
    const head = await latest(chain)
    const later = (): string | undefined => (forward(1000), consumer.tip?.hash)
    await expect.poll(later, { timeout: 30_000, interval: 300 }).toBe(head.hash)
    expect(consumer.of('reorg')).toEqual([])
  })

  it.each([
    ['which differs from it', 1],
    ['at which the chain stops', 0],
  ])(
    'is left after ten seconds for a head that two others share, %s, until another knows it',
    async (_what, own) => {
      const { clock, forward } = forwardClock()
      const { proxies, consumer } = await threeAtOneHead(clock)
      const [alone] = proxies
      const still = proxies.map(proxy =>
        proxy.add({ fault: { kind: 'tags', tags: { latest: consumer.tip?.number ?? 0 } } }),
      )
      const branch = await branchOf(5)
      const lie = alone.add({ fault: { kind: 'handle', handle: branch } })
      for (const rule of still) rule.remove()
      if (own > 0) await mine(chain, own)
      const shared = await latest(chain)
      forward(5001)
      await consumer.until('the branch', ({ tip }) => tip?.number === Number(shared.number) - own + 5)
      // The others are read meanwhile, and know nothing of it.
      const later = (): string | undefined => (forward(2000), consumer.tip?.hash)
      await expect.poll(later, { timeout: 30_000, interval: 300 }).toBe(shared.hash)
      expect(statusesEver(consumer)).not.toContain('GAP')
      expect(consumer.of('reorg').at(-1)?.blocks.map(refOf)).toMatchObject([{ hash: shared.hash }])
      forward(15_001)
      await consumer.until('set aside', each => statuses(each)[0] === 'SET_ASIDE')
      lie.remove()
      await mineAt(clock.nowMs())
      await consumer.untilTip(await latest(chain))
      await consumer.until('back', each => (forward(5001), statuses(each)[0] === 'OK'))
      await expectFinalChain(consumer, chain)
    },
  )
})

describe('one address with several nodes behind it', () => {
  it('is neither late nor reorganised when one of them is three blocks behind', async () => {
    const balanced = await proxied()
    const consumer = await over([balanced.url])
    await consumer.untilTip(await latest(chain))
    const late = behind(3).fault as Extract<Rule['fault'], { kind: 'handle' }>
    let turn = 0
    const handle: Handle = (call, fetchAnswer, response) =>
      turn++ % 2 === 0 ? late.handle(call, fetchAnswer, response) : fetchAnswer()
    balanced.add({ fault: { kind: 'handle', handle } })
    for (let n = 0; n < 8; n++) {
      await mineTransactions(chain, EVERY_KIND.slice(0, 1 + (n % 3)))
      await consumer.untilTip(await latest(chain))
    }
    expect(consumer.of('reorg')).toEqual([])
    expect(reasons(consumer)).toEqual([])
    expect(statuses(consumer)).toEqual(['OK'])
    await expectFinalChain(consumer, chain)
  })
})
