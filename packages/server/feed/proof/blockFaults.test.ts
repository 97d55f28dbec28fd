/** Faults of faults.md in the content of a block, on a real chain through the fault proxy. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import type { Rule } from '../../../world/proxy/rule.ts'
import type { Hex } from '../../ops/hex.ts'
import { Consumer } from '../testing/consumer.ts'
import { chainOfFile, endpointsOf, follow, forwardClock, keep, start } from '../testing/following.ts'
import {
  EVERY_KIND,
  latest,
  type LocalChain,
  LOGGER,
  mine,
  mineTransactions,
  startLocalChain,
} from '../testing/localChain.ts'
import { expectFinalChain } from '../testing/oracle.ts'

type RpcLog = Readonly<Record<string, unknown>>
type RpcReceipt = Readonly<Record<string, unknown>> & { readonly logs: readonly RpcLog[] }

const chain = await chainOfFile(2)

const proxied = async (...rules: readonly Rule[]): Promise<FaultProxy> =>
  keep(await startFaultProxy({ url: chain.anvil.url, seed: 4, rules }))

const over = (...urls: readonly string[]): Promise<Consumer> =>
  follow(chain, { config: { endpoints: endpointsOf(...urls) } })

const NO_RECEIPTS: Rule = {
  method: ['eth_getBlockReceipts', 'eth_getTransactionReceipt'],
  fault: { kind: 'error', code: -32_601, message: 'Method not found' },
}
const changed = (method: string | readonly string[], change: (result: never) => unknown): Rule => ({
  method,
  fault: { kind: 'change', change: result => change(result as never) },
})
/** However a header is asked for; that of the first block, by which a node shows its identity, stays as it is. */
const changedHeader = (change: (header: never) => unknown): Rule => ({
  ...changed(['eth_getBlockByHash', 'eth_getBlockByNumber'], change),
  params: ([which]) => which !== '0x0',
})
const changedLogs = (change: (logs: readonly RpcLog[]) => readonly unknown[]): Rule =>
  changed('eth_getBlockReceipts', (receipts: readonly RpcReceipt[]) =>
    receipts.map(receipt => ({ ...receipt, logs: change(receipt.logs) })),
  )
/** Lies about blocks with logs only, so that a feed gets started. */
const firstOnly = (change: (log: RpcLog) => unknown): Rule =>
  changedLogs(logs => logs.map((log, at) => (at === 0 ? change(log) : log)))

/** The liar comes first and is asked; the block is taken from the other, whole. */
async function expectTakenFromOther(liar: FaultProxy, lies: readonly Rule[]): Promise<void> {
  const consumer = await over(liar.url, chain.anvil.url)
  await consumer.untilTip(await latest(chain))
  const active = lies.map(rule => liar.add(rule))
  // Which of the two is asked first depends on how fast each was: until the liar was.
  for (let n = 0; n < 20 && active.some(rule => rule.fired() === 0); n++) {
    await mineTransactions(chain, EVERY_KIND)
    await consumer.untilTip(await latest(chain))
  }
  for (const rule of active) expect(rule.fired()).toBeGreaterThan(0)
  await expectFinalChain(consumer, chain)
}

/** With the lying endpoint alone the head stays, is retried, and moves on when the lie ends. */
async function expectRefused(liar: FaultProxy, lie: Rule): Promise<void> {
  const consumer = await over(liar.url)
  const before = await latest(chain)
  await consumer.untilTip(before)
  const active = liar.add(lie)
  await mineTransactions(chain, EVERY_KIND)
  await expect.poll(() => active.fired()).toBeGreaterThan(2)
  expect(consumer.tip?.hash).toBe(before.hash)
  active.remove()
  await consumer.untilTip(await latest(chain))
  await expectFinalChain(consumer, chain)
}

describe('F1: an empty list of logs for a block whose bloom is not', () => {
  const empty = changed('eth_getLogs', () => [])

  it('F1: is refused and requested again, and the block is not applied', async () => {
    await expectRefused(await proxied(NO_RECEIPTS), empty)
  })

  it('F1: is the provider’s fault, and another one is asked', async () => {
    await expectTakenFromOther(await proxied(NO_RECEIPTS), [empty])
  })
})

describe('F3: a list of logs cut at a round number', () => {
  /** mstore-free: log0 of nothing. */
  const SINGLE: Hex = `0x${'30'.repeat(20)}`
  const many = (loggers: number, singles = 0) => [
    ...Array.from({ length: loggers }, () => ({ to: LOGGER, gas: '0xc350' })),
    ...Array.from({ length: singles }, () => ({ to: SINGLE, gas: '0xc350' })),
  ]
  beforeAll(() => chain.rpc('anvil_setCode', SINGLE, '0x60006000a000'))

  const CUT: Rule = {
    method: 'eth_getLogs',
    fault: { kind: 'change', change: logs => (logs as unknown[]).slice(0, 100) },
  }

  it('F3: is not requested when receipts are available one by one, and they prove the block', async () => {
    const cutting = await proxied({ ...NO_RECEIPTS, method: 'eth_getBlockReceipts' }, CUT)
    const alone = await over(cutting.url)
    await alone.untilTip(await latest(chain))
    await mineTransactions(chain, many(40))
    await alone.untilTip(await latest(chain))
    expect(alone.tip).toMatchObject({ proof: 'receipts', logs: { length: 120 } })
    expect(cutting.calls.filter(({ method }) => method === 'eth_getLogs')).toEqual([])
  })

  it('F3: is taken whole from another provider, although bloom and indices fit', async () => {
    const cutting = await proxied(NO_RECEIPTS, CUT)
    await mineTransactions(chain, many(40))
    const both = await over(cutting.url, chain.anvil.url)
    await both.untilTip(await latest(chain))
    expect(both.tip?.logs).toHaveLength(120)
  })

  it('F3: that is correct stops no chain, though nothing proves it', async () => {
    const consumer = await over((await proxied(NO_RECEIPTS)).url)
    await consumer.untilTip(await latest(chain))
    await mineTransactions(chain, many(33, 1))
    await consumer.untilTip(await latest(chain))
    expect(consumer.tip).toMatchObject({ proof: 'none', logs: { length: 100 } })
  })
})

describe('F14: null for a block that was just announced', () => {
  const nulls = (method: string, nth: NonNullable<Rule['nth']>): Rule => ({
    method,
    nth,
    fault: { kind: 'change', change: () => null },
  })

  it('F14: is requested again, a bounded number of times', async () => {
    const liar = await proxied()
    const consumer = await over(liar.url)
    await consumer.untilTip(await latest(chain))
    // The head comes with its header; that of the block below it is asked for by number.
    const below = Number((await latest(chain)).number) + 1
    const isBelow: NonNullable<Rule['params']> = ([which]) => which === `0x${below.toString(16)}`
    const rules = [
      liar.add({ ...nulls('eth_getBlockByNumber', [1, 2]), params: isBelow }),
      liar.add(nulls('eth_getBlockReceipts', [1, 2])),
    ]
    await mine(chain, 2)
    await consumer.untilTip(await latest(chain))
    expect(rules.map(rule => rule.fired())).toEqual([2, 2])
    const again = liar.add(nulls('eth_getBlockReceipts', [1, 2]))
    await mineTransactions(chain, EVERY_KIND)
    await consumer.untilTip(await latest(chain))
    expect(again.fired()).toBe(2)
    expect(consumer.tip?.logs).toHaveLength(9)
  })

  it('F14: permanently is never an empty block: another provider has it', async () => {
    await expectTakenFromOther(await proxied(), [nulls('eth_getBlockReceipts', [1, 1000])])
  })
})

describe('F19: a log that is not the block’s own', () => {
  const lies: readonly (readonly [what: string, rule: Rule])[] = [
    ['of another address', firstOnly(log => ({ ...log, address: `0x${'66'.repeat(20)}` }))],
    ['with another topic', firstOnly(log => ({ ...log, topics: [`0x${'77'.repeat(32)}`] }))],
    ['of another block', firstOnly(log => ({ ...log, blockHash: `0x${'77'.repeat(32)}` }))],
    ['of another transaction’s index', firstOnly(log => ({ ...log, transactionIndex: '0x63' }))],
    [
      'with an index that was there already',
      changedLogs(logs => logs.map(log => ({ ...log, logIndex: '0x0' }))),
    ],
  ]
  it.each(lies)('F19: %s is refused', async (_what, rule) => {
    await expectTakenFromOther(await proxied(), [rule])
  })
})

describe('F22: 200 blocks at once', () => {
  it('F22: arrive in order, at most eight of them fetched ahead of a waiting consumer', async () => {
    const proxy = await proxied()
    const feed = await start(chain, { config: { endpoints: endpointsOf(proxy.url) } })
    const controller = new AbortController()
    const items = feed.items(controller.signal)[Symbol.asyncIterator]()
    const first = await items.next()
    expect(first.value?.kind).toBe('block')
    proxy.calls.length = 0
    await mine(chain, 200)
    // Blocks, not calls: one that is not answered in its usual time is asked for once more.
    const fetched = (): number =>
      new Set(
        proxy.calls.filter(({ method }) => method === 'eth_getBlockReceipts').map(({ params }) => params[0]),
      ).size
    await expect.poll(fetched).toBe(8)
    // The head is polled some times more, and no block is fetched.
    const polls = (): number => proxy.calls.filter(({ params }) => params[0] === 'latest').length
    const before = polls()
    await expect.poll(polls).toBeGreaterThan(before + 3)
    expect(fetched()).toBe(8)
    if (first.value?.kind !== 'block') return
    const consumer = keep(new Consumer(feed, { history: [first.value.block] }))
    await consumer.until('the head', ({ chain: blocks }) => blocks.length === 201, 60_000)
    await expectFinalChain(consumer, chain)
  })
})

describe('a header', () => {
  it('that is forged does not give its hash and is refused', async () => {
    await expectRefused(
      await proxied(),
      changedHeader((header: { timestamp: Hex }) => ({
        ...header,
        timestamp: `0x${(Number(header.timestamp) + 1).toString(16)}`,
      })),
    )
  })

  it('with an unknown field proves nothing, unless its hash fits without it', async () => {
    const proxy = await proxied(changedHeader((header: object) => ({ ...header, novel: '0x1' })))
    const consumer = await over(proxy.url)
    await consumer.untilTip(await latest(chain))
    expect(consumer.tip?.proof).toBe('receipts')
    proxy.add(changedHeader((header: object) => ({ ...header, gasUsed: '0x1' })))
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    expect(consumer.tip?.proof).toBe('none')
    await consumer.until('NO_PROOF', ({ health }) => health?.reasons.includes('NO_PROOF') === true)
  })
})

describe('on a chain whose headers prove nothing', () => {
  let opaque: LocalChain
  beforeAll(async () => {
    opaque = await startLocalChain()
    await mine(opaque, 2)
  })
  afterAll(() => opaque.close())
  const liarOf = async (): Promise<FaultProxy> => keep(await startFaultProxy({ url: opaque.anvil.url }))
  const omitting = changed('eth_getBlockReceipts', (receipts: readonly RpcReceipt[]) =>
    receipts.map((receipt, at) =>
      at === receipts.length - 2 ? { ...receipt, logs: receipt.logs.slice(0, -1) } : receipt,
    ),
  )
  const followed = (urls: readonly string[], clock = forwardClock().clock): Promise<Consumer> =>
    follow(opaque, {
      clock,
      config: { endpoints: endpointsOf(...urls), proof: { header: 'opaque', receipts: 'none' } },
    })

  it('one endpoint delivers blocks without a proof: DEGRADED', async () => {
    const consumer = await followed([opaque.anvil.url])
    await consumer.until('NO_PROOF', ({ health }) => health?.reasons.includes('NO_PROOF') === true)
    expect([consumer.tip?.proof, consumer.health?.status]).toEqual(['none', 'DEGRADED'])
  })

  it('two that agree prove them by digest: HEALTHY', async () => {
    const consumer = await followed([opaque.anvil.url, (await liarOf()).url])
    await mineTransactions(opaque, EVERY_KIND)
    await consumer.untilTip(await latest(opaque))
    expect(consumer.tip).toMatchObject({ proof: 'digest', logs: { length: 9 } })
    await consumer.until('health', ({ health }) => health?.status === 'HEALTHY')
  })

  it('two that disagree prove nothing, and the head stays below', async () => {
    const { clock, forward } = forwardClock()
    const liar = await liarOf()
    const consumer = await followed([opaque.anvil.url, liar.url], clock)
    const before = await latest(opaque)
    await consumer.untilTip(before)
    const lie = liar.add(omitting)
    await mineTransactions(opaque, EVERY_KIND)
    await expect.poll(() => lie.fired()).toBeGreaterThan(1)
    forward(16_000)
    await consumer.until('GAP', ({ health }) => health?.status === 'GAP')
    expect(consumer.tip?.hash).toBe(before.hash)
    lie.remove()
    await consumer.untilTip(await latest(opaque))
    expect(consumer.tip).toMatchObject({ proof: 'digest', logs: { length: 9 } })
  })

  it('of three the dissenting one is at fault', async () => {
    const [liar, honest] = [await liarOf(), await liarOf()]
    const consumer = await followed([liar.url, opaque.anvil.url, honest.url])
    await consumer.untilTip(await latest(opaque))
    const lie = liar.add(omitting)
    for (let n = 0; n < 20 && lie.fired() === 0; n++) {
      await mineTransactions(opaque, EVERY_KIND)
      await consumer.untilTip(await latest(opaque))
    }
    expect(lie.fired()).toBeGreaterThan(0)
    await expectFinalChain(consumer, opaque)
    expect(consumer.chain.slice(1).map(({ proof }) => proof)).not.toContain('none')
  })
})
