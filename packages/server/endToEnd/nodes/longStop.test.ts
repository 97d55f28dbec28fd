/**
 * R-rebase-1 and R-health-6, a long stop: the service is down while thousands of blocks pass. It starts again at the head, in calls
 * that do not grow with the blocks it missed; its stream continues, and the gap is named.
 */
import { join } from 'node:path'
import type { Client, Envelope } from '@assay/sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RpcProxy, startRpcProxy } from '../../feed/testing/rpcProxy.ts'
import { type ChildService, clientOf, freePort, startChildService } from '../testing/childService.ts'
import { setClock, settable } from '../testing/clockStep.ts'
import { cursorAfter, Heard } from '../testing/heard.ts'
import { untilSameView } from '../testing/marketView.ts'
import { CHAIN_ID } from '../testing/plan.ts'
import { isPoolRetract, isSwap, isTokenRetract, isTokenUpsert } from '../testing/record.ts'
import { storedTip } from '../testing/storedTip.ts'
import { type Block, type Hex, startTestChain, type TestChain } from '../testing/testChain.ts'
import { writeConfig } from '../testing/testService.ts'

let chain: TestChain
let proxy: RpcProxy
let clockFile: string
let environment: Record<string, string>
let pair: Hex
let v3: Hex
const children = new Set<ChildService>()

beforeEach(async () => {
  chain = await startTestChain()
  proxy = await startRpcProxy(chain.world.url)
  clockFile = join(chain.folder, 'clock')
  environment = settable(clockFile)
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  v3 = chain.pool('uniswap-v3', 'WETH', 'LARK')
})
afterEach(async () => {
  for (const child of children) await child.kill()
  children.clear()
  await proxy.close()
  await chain.close()
})

/** A service on the proxy whose clock can be set; `tip` is what it has committed. */
async function serviceOf(name: string) {
  const config = writeConfig(chain, { name, port: await freePort(), endpoints: [proxy.url] })
  const start = async (): Promise<ChildService> => {
    const child = await startChildService(config, environment)
    children.add(child)
    return child
  }
  return { config, start, tip: () => storedTip(join(chain.folder, `${name}.db`), CHAIN_ID) }
}

const trade = (usd: number) => chain.run(chain.sellV2(pair, 'MOTH', usd), chain.sellV3(v3, 'LARK', usd))

/** Blocks a second apart that nobody watches; clocks go with them. */
async function pass(blocks: number): Promise<void> {
  await chain.rpc('anvil_mine', `0x${blocks.toString(16)}`, '0x1')
}
async function setClockToChain(): Promise<void> {
  const { timestamp } = await chain.world.client.getBlock({ blockTag: 'latest' })
  setClock(clockFile, Number(timestamp) * 1000 - Date.now())
}

type IsLast = (record: Envelope) => boolean

/** Every record above a sequence up to one that `isLast`, over one connection. */
async function hear(client: Client, after: number, what: string, isLast: IsLast): Promise<Envelope[]> {
  const resumeCursor = await cursorAfter(client, CHAIN_ID, after)
  const heard = new Heard(client, { filter: { chain_ids: [CHAIN_ID] }, resumeCursor })
  await chain.untilMining(what, async () => heard.outcome !== null || heard.records.some(isLast))
  await heard.close()
  return heard.records.slice(0, heard.records.findIndex(isLast) + 1)
}

const isPricedFrom =
  (block: Block, symbol: string): IsLast =>
  record =>
    isTokenUpsert(chain.token(symbol))(record) &&
    record.payload.state === 'PRICED' &&
    record.payload.as_of.block_number >= block.number

const isPoll = (tag: unknown): boolean => tag === 'latest' || tag === 'finalized'
const callsSince = (at: number): number =>
  proxy.calls.slice(at).filter(({ params }) => !isPoll(params?.[0])).length

/** Another service that never saw the chain before finds the same. */
async function isLikeNew(config: string, { url }: ChildService): Promise<void> {
  const fresh = await serviceOf('fresh')
  const child = await fresh.start()
  const head = await chain.head()
  const client = await clientOf(fresh.config, child.url, 'fresh')
  await hear(client, 0, 'a price of LARK', isPricedFrom(head, 'LARK'))
  await hear(client, 0, 'a price of MOTH', isPricedFrom(head, 'MOTH'))
  await untilSameView(chain, await clientOf(config, url, 'viewer'), client)
}

const lastOf = (records: readonly Envelope[]): number => records.at(-1)?.stream_sequence ?? 0

describe('a service that was down for more than 35 minutes', () => {
  it('restarts at the head: right prices, bounded calls, continuing sequences, and a named gap', async () => {
    const { config, start, tip } = await serviceOf('stopped')
    let child = await start()
    const client = await clientOf(config, child.url, 'reader')
    const first = await trade(500)
    const heard = await hear(client, 0, 'a first price', isPricedFrom(first, 'MOTH'))
    const calls: number[] = []
    for (const missed of [2200, 3300]) {
      expect(await child.stop()).toBe(0)
      const from_block = tip() + 1
      await trade(900)
      await pass(missed / 2)
      await trade(700)
      await pass(missed / 2)
      await setClockToChain()
      const at = proxy.calls.length
      child = await start()
      const head = await chain.head()
      const records = await hear(client, lastOf(heard), 'a price after the stop', isPricedFrom(head, 'MOTH'))
      calls.push(callsSince(at))
      heard.push(...records)
      expect(records.filter(isSwap()).filter(({ payload }) => payload.block_number >= from_block)).toEqual([])
      const gap = { from_block, to_block: expect.any(Number) as number, at_ms: expect.any(Number) as number }
      const withdrawn = records.find(isTokenRetract(chain.token('MOTH')))
      expect(withdrawn?.payload).toMatchObject({
        reason: 'FEED',
        current: { state: 'UNPRICED', reason: 'FEED' },
      })
      const rebased = records.find(({ type, payload }) => type === 'FEED_HEALTH' && 'gap' in payload)
      expect(rebased?.payload).toMatchObject({ status: 'GAP', reasons: ['REBASED'], gap })
      const { gaps } = await client.fetchHistory({ chain_id: CHAIN_ID, token_address: chain.token('MOTH') })
      expect(gaps?.at(-1)).toMatchObject(gap)
      const events = await client.fetchPoolEvents({ chain_id: CHAIN_ID, pool_address: pair })
      expect(events.gaps).toEqual(gaps)
      expect(child.said()).toContain('after a long stop the chain starts again at its head')
    }
    expect(heard.map(record => record.stream_sequence)).toEqual(heard.map((_, at) => at + 1))
    // A walk takes two calls a block.
    for (const each of calls) expect(each).toBeLessThan(300)
    const health = await client.fetchHealth({ chain_id: CHAIN_ID })
    expect(health.gap).toMatchObject({ to_block: expect.any(Number) as number })
    expect(health.reasons).not.toContain('REBASED')
    await isLikeNew(config, child)
  })

  it('withdraws the prices based on a head that was reorganised away', async () => {
    const { config, start } = await serviceOf('orphaned')
    let child = await start()
    const client = await clientOf(config, child.url, 'reader')
    await hear(client, 0, 'a first price', isPricedFrom(await trade(500), 'LARK'))
    const snapshot = await chain.snapshot()
    await trade(700)
    const old = await trade(400)
    const before = await hear(client, 0, 'a price on the old branch', isPricedFrom(old, 'LARK'))
    await child.stop()
    await chain.revert(snapshot)
    await chain.run(chain.sellV2(pair, 'USDT', 600))
    await pass(2400)
    await setClockToChain()
    child = await start()
    const head = await chain.head()
    const after = await hear(client, lastOf(before), 'a price after the stop', isPricedFrom(head, 'LARK'))
    for (const symbol of ['MOTH', 'LARK'])
      expect(after.find(isTokenRetract(chain.token(symbol)))?.payload.reason).toBe('REORG')
    for (const pool of [pair, v3]) expect(after.find(isPoolRetract(pool))?.payload.reason).toBe('REORG')
    const orphaned = after.filter(isSwap()).filter(({ payload }) => payload.finality === 'orphaned')
    expect(orphaned).toHaveLength(4)
    expect(lastOf(after) - lastOf(before)).toBe(after.length)
    await isLikeNew(config, child)
  })
})
