/** The running service on endpoints that are away, behind, silent or lossy: what its users see of it. */
import type { Health } from '@assay/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import type { Rule } from '../../../world/proxy/rule.ts'
import { startTcpProxy } from '../../feed/testing/tcpProxy.ts'
import { CHAIN_ID } from '../testing/plan.ts'
import { startTestChain, type TestChain } from '../testing/testChain.ts'
import { openTestService, type TestService } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain()
})
afterAll(() => chain?.close())

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
  await chain.rpc('evm_setIntervalMining', 0)
})
const keep = <Thing extends { close(): Promise<unknown> }>(thing: Thing): Thing => {
  open.push(thing)
  return thing
}

const proxied = async (...rules: readonly Rule[]): Promise<FaultProxy> =>
  keep(await startFaultProxy({ url: chain.world.url, seed: 9, rules }))

let services = 0
const serve = async (...endpoints: readonly string[]): Promise<TestService> =>
  keep(await openTestService(chain, { name: `nodes-${++services}`, tokens: ['LARK'], endpoints }))

/** As last reported, read from the store: waiting costs no quota. */
async function healthOf(service: TestService): Promise<Health | null> {
  const record = (await service.records()).findLast(({ type }) => type === 'FEED_HEALTH')
  return record?.type === 'FEED_HEALTH' ? record.payload : null
}

async function isPriced(service: TestService): Promise<boolean> {
  const stored = await service.store.readQuote(CHAIN_ID, chain.token('LARK'))
  return stored !== null && (JSON.parse(stored.quote) as { state: string }).state === 'PRICED'
}

const tipOf = async (service: TestService): Promise<number> =>
  (await service.store.readCheckpoint(CHAIN_ID))?.tip?.number ?? 0

/** Every status that was ever on the stream. */
async function statuses(service: TestService): Promise<ReadonlySet<string>> {
  const records = await service.records()
  return new Set(records.flatMap(each => (each.type === 'FEED_HEALTH' ? [each.payload.status] : [])))
}

/** A node that is so many blocks behind in everything it reports about the head. */
const behind = (blocks: number): Rule => ({
  params: ([which]) => which === 'latest',
  fault: {
    kind: 'handle',
    handle: async () => {
      const number = (await chain.head()).number - blocks
      return { result: await chain.rpc('eth_getBlockByNumber', `0x${number.toString(16)}`, false) }
    },
  },
})

describe('endpoints that are down at the start', () => {
  it('F32: leave a chain that reports it, and that is priced when one of them recovers', async () => {
    const away = keep(await startTcpProxy(0))
    const service = await serve(`http://127.0.0.1:${away.port}`)
    const health = await until('a health record', () => healthOf(service))
    expect(health).toMatchObject({ status: 'UNAVAILABLE', head: null, endpoints: [{ status: 'FAILING' }] })
    expect(health.reasons).toEqual(['NO_ENDPOINT', 'NO_VERIFIED_HEAD'])
    const client = await service.client()
    expect((await client.fetchHealth({ chain_id: CHAIN_ID })).status).toBe('UNAVAILABLE')
    away.target = Number(new URL(chain.world.url).port)
    await chain.untilMining('a price', () => isPriced(service))
    await chain.untilMining('well', async () => (await healthOf(service))?.status === 'HEALTHY')
    expect(service.faults).toEqual([])
  })
})

describe('an endpoint behind another one', () => {
  it.each([3, 20])('F30: by %i blocks costs nothing: the head of the other is priced', async blocks => {
    await chain.mine(blocks)
    await chain.rpc('evm_setIntervalMining', 1)
    const service = await serve((await proxied(behind(blocks))).url, chain.world.url)
    await until('a price', () => isPriced(service))
    const first = (await chain.head()).number
    await until('later blocks', async () => (await tipOf(service)) > first + 5)
    const shown = async () => (await healthOf(service))?.endpoints.map(({ status }) => status).join()
    await until('which is late', async () => (await shown()) === 'LAGGING,OK')
    expect(await statuses(service)).not.toContain('GAP')
  })
})

describe('calls that are never answered', () => {
  it('F31: one in ten, leave a chain that is priced and healthy', async () => {
    await chain.rpc('evm_setIntervalMining', 1)
    const lossy = await proxied({ chance: 0.1, fault: { kind: 'hang', after: 'request' } })
    const service = await serve(lossy.url)
    await until('a price', () => isPriced(service))
    const first = (await chain.head()).number
    await until('twenty blocks more', async () => (await tipOf(service)) > first + 20)
    expect(await statuses(service)).toEqual(new Set(['HEALTHY']))
    expect(await isPriced(service)).toBe(true)
  })
})

describe('a subscription', () => {
  it('F27: that drops a head and then is silent withdraws nothing', async () => {
    const proxy = await proxied()
    const service = await serve(proxy.wsUrl)
    await chain.untilMining('a price', () => isPriced(service))
    await service.untilTip(await chain.head())
    const before = await service.head()
    const lost = proxy.add({ method: 'eth_subscription', fault: { kind: 'drop' } })
    const last = await chain.mineNow()
    await until('the head lost', () => lost.fired() > 0)
    lost.remove()
    await service.untilTip(last)
    const later = await service.records(before)
    expect(later.filter(({ type }) => type === 'PRICE_RETRACT')).toEqual([])
    expect(await isPriced(service)).toBe(true)
  })
})

describe('a node without the finalized tag', () => {
  it('R17: has blocks final by depth, which health names', async () => {
    const untagged = await proxied({ fault: { kind: 'tags', tags: { finalized: null } } })
    const service = await serve(untagged.url)
    await chain.untilMining('a price', () => isPriced(service))
    await chain.mine(70)
    const health = await chain.untilMining('finality', async () => {
      const said = await healthOf(service)
      return said === null || said.finalized === null ? null : said
    })
    expect(health.reasons).toContain('FINALITY_BY_DEPTH')
  })
})
