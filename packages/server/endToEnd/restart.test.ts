import type { Client, Envelope } from '@assay/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ChildService, clientOf, freePort, startChildService } from './testing/childService.ts'
import { cursorAfter, Heard } from './testing/heard.ts'
import { untilSameView } from './testing/marketView.ts'
import { CHAIN_ID } from './testing/plan.ts'
import {
  isPoolRetract,
  isPoolUpsert,
  isSwap,
  isTokenRetract,
  isTokenUpsert,
  recordIdOf,
} from './testing/record.ts'
import { type Block, type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { startTestService, writeConfig } from './testing/testService.ts'

let chain: TestChain
let config: string
let pair: Hex
let v3: Hex
let child: ChildService | null = null
beforeAll(async () => {
  chain = await startTestChain()
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  v3 = chain.pool('uniswap-v3', 'WETH', 'LARK')
  config = writeConfig(chain, { name: 'child', port: await freePort() })
})
afterAll(() => chain?.close())
afterEach(async () => {
  await child?.kill()
  child = null
})

type IsLast = (record: Envelope, at: number, records: readonly Envelope[]) => boolean

const filter = { chain_ids: [CHAIN_ID] }

async function start(): Promise<ChildService> {
  child = await startChildService(config)
  return child
}

/** Every record above `after` up to one that satisfies `isLast`, over one connection. */
async function hear(client: Client, after: number, what: string, isLast: IsLast): Promise<Envelope[]> {
  const heard = new Heard(client, { filter, resumeCursor: await cursorAfter(client, CHAIN_ID, after) })
  await chain.untilMining(what, async () => heard.outcome !== null || heard.records.some(isLast))
  await heard.close()
  return heard.records.slice(0, heard.records.findIndex(isLast) + 1)
}

/** The first price said after the swap of this very block: causes come before what follows from them. */
const isPricedAfter =
  (block: Block, symbol = 'MOTH'): IsLast =>
  (record, at, records) =>
    isTokenUpsert(chain.token(symbol))(record) &&
    record.payload.state === 'PRICED' &&
    record.payload.as_of.block_number >= block.number &&
    records.slice(0, at).some(cause => isSwap()(cause) && cause.payload.block_hash === block.hash)

const trade = (usd: number) => chain.run(chain.sellV2(pair, 'MOTH', usd), chain.sellV3(v3, 'LARK', usd))

describe('a service killed with -9', () => {
  it('resumes where its log ended: nothing lost, no duplicates, and a client resumes from its cursor', async () => {
    const { url } = await start()
    const client = await clientOf(config, url, 'resuming')
    const heard = await hear(client, 0, 'a first price', isTokenUpsert(chain.token('MOTH')))
    const resume = async (what: string, isLast: IsLast) => {
      heard.push(...(await hear(client, heard.at(-1)?.stream_sequence ?? 0, what, isLast)))
    }
    let last = await trade(500)
    await resume('a price of the first trade', isPricedAfter(last))
    // Two more are in flight, and two come while nobody watches.
    await Promise.all([trade(300), trade(200)])
    await child?.kill()
    for (const usd of [100, 900]) last = await trade(usd)
    await start()
    await resume('a price of the last trade', isPricedAfter(last))
    // Killed again, before it is done with its start, and again.
    await child?.kill()
    const killed = await start()
    await killed.kill()
    await start()
    last = await trade(250)
    await resume('a price of the third life', isPricedAfter(last))

    const sequences = heard.map(record => record.stream_sequence)
    expect(sequences).toEqual(sequences.map((_, at) => at + 1))
    const ids = heard.map(recordIdOf).filter(id => id !== null)
    expect(new Set(ids).size).toBe(ids.length)
    const swaps = heard.filter(isSwap()).map(({ payload }) => `${payload.block_hash} ${payload.log_index}`)
    expect(new Set(swaps).size).toBe(swaps.length)
    // Six trades of two swaps each, wherever the service was at the time.
    expect(swaps).toHaveLength(12)
    // Another one that reads everything from the start receives exactly the same.
    const whole = await hear(client, 0, 'the whole log', record => record.stream_sequence === heard.length)
    expect(whole).toEqual(heard)
    expect(await child?.stop()).toBe(0)
  })

  it('finds a reorganisation that happened while it was down, and ends where a new one begins', async () => {
    const { url } = await start()
    const client = await clientOf(config, url, 'reorganised')
    const snapshot = await chain.snapshot()
    await trade(700)
    const old = await trade(400)
    const before = await hear(client, 0, 'a price on the old branch', isPricedAfter(old))
    await child?.kill()
    await chain.revert(snapshot)
    // Purchases: a new service simulates its evidence, and so does one that saw no sale.
    await chain.run(chain.sellV2(pair, 'USDT', 600))
    await chain.run(chain.sellV3(v3, 'WETH', 350))
    await chain.run(chain.sellV2(pair, 'USDT', 10))
    await start()
    const after = await hear(
      client,
      before.at(-1)?.stream_sequence ?? 0,
      'the retraction',
      isTokenRetract(chain.token('MOTH')),
    )
    for (const [symbol, pool] of [
      ['MOTH', pair],
      ['LARK', v3],
    ] as const) {
      const withdrawn = before.findLast(isPoolUpsert(pool))
      expect(after.find(isPoolRetract(pool))?.payload).toMatchObject({
        reason: 'REORG',
        retracted: { record_id: withdrawn?.payload.record_id, stream_sequence: withdrawn?.stream_sequence },
      })
      expect(before.some(isTokenUpsert(chain.token(symbol)))).toBe(true)
    }
    const retraction = after.find(isTokenRetract(chain.token('MOTH')))
    // A probe may have published one more state before the kill, after the records received then; the last one is withdrawn.
    const published = [
      ...before,
      ...after.slice(0, after.indexOf(retraction as (typeof after)[number])),
    ].findLast(isTokenUpsert(chain.token('MOTH')))
    expect(retraction?.payload).toMatchObject({
      reason: 'REORG',
      retracted: { record_id: published?.payload.record_id, stream_sequence: published?.stream_sequence },
    })
    const orphaned = after.filter(isSwap()).filter(record => record.payload.finality === 'orphaned')
    expect(orphaned).toHaveLength(4)

    const fresh = await startTestService(chain, { name: 'fresh' })
    try {
      await untilSameView(chain, client, await fresh.client())
    } finally {
      await fresh.close()
    }
  })
})
