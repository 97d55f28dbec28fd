/** R1 and R11: reorganisations of every depth, and one that the service is killed in, at each of its steps. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dyingAt } from '../store/testing/crashing.ts'
import { REORG_POINTS } from '../store/testing/failPoints.ts'
import { type ChildService, clientOf, freePort, startChildService } from './testing/childService.ts'
import { cursorAfter, Heard } from './testing/heard.ts'
import { marketView } from './testing/marketView.ts'
import { CHAIN_ID } from './testing/plan.ts'
import { isSwap, recordIdOf } from './testing/record.ts'
import { roomyClient } from './testing/roomy.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { startTestService, type TestService, writeConfig } from './testing/testService.ts'

let chain: TestChain
let pair: Hex
let v3: Hex
beforeAll(async () => {
  chain = await startTestChain()
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  v3 = chain.pool('uniswap-v3', 'WETH', 'LARK')
})
afterAll(() => chain?.close())

/** Purchases: a service that saw no sale simulates its evidence, as a new one does. */
const buy = (usd: number) => chain.run(chain.sellV2(pair, 'USDT', usd), chain.sellV3(v3, 'WETH', usd))

/**
 * Once its feed is healthy: on a busy machine that takes some blocks, and no token has a price before. The head
 * after a reorganisation is as old as the fork, and the feed may be given up while we look.
 */
async function viewOf(service: TestService) {
  await service.untilTip(await chain.mineNow())
  // However long it takes: this consumer's quota is no matter here.
  const client = await roomyClient(service)
  await chain.untilMining(
    'a feed that is well',
    async () => (await client.fetchHealth({ chain_id: CHAIN_ID })).status === 'HEALTHY',
  )
  await service.untilTip(await chain.head())
  return marketView(await service.client())
}

async function viewOfFresh(name: string) {
  const fresh = await startTestService(chain, { name })
  try {
    return await viewOf(fresh)
  } finally {
    await fresh.close()
  }
}

describe('R1', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService(chain, { name: 'depths', finalityDepth: 100 })
    // What is loaded at a block goes with it; deeper than that is another story.
    await service.untilTip(await chain.mine(66))
  })
  afterAll(() => service?.close())

  it.each([1, 2, 7, 31, 64])('a reorganisation of depth %i ends where a new service begins', async depth => {
    const before = await service.head()
    for (let at = 0; at < Math.min(depth, 3); at++) await buy(100 + at)
    if (depth > 3) await chain.mine(depth - 3)
    await service.untilTip(await chain.head())
    await service.untilTip(await chain.reorg(depth))
    await service.untilTip(await buy(70))
    const records = await service.records(before)
    const sequences = records.map(record => record.stream_sequence)
    expect(sequences).toEqual(sequences.map((_, at) => before + at + 1))
    const orphaned = records.filter(isSwap()).filter(({ payload }) => payload.finality === 'orphaned')
    expect(orphaned).toHaveLength(2 * Math.min(depth, 3))
    expect(await viewOf(service)).toEqual(await viewOfFresh(`fresh-${depth}`))
    expect(service.faults).toEqual([])
  })
})

describe('R11', () => {
  let child: ChildService | null = null
  afterEach(() => child?.kill())

  it('killed at each step of a reorganisation, it ends as without the kill', async () => {
    const config = writeConfig(chain, { name: 'killed', port: await freePort(), finalityDepth: 100 })
    child = await startChildService(config)
    const client = await clientOf(config, child.url, 'witness')
    const filter = { chain_ids: [CHAIN_ID] }
    const untilSeen = async (what: string, hash: string, after: number, finality: string) => {
      const heard = new Heard(client, { filter, resumeCursor: await cursorAfter(client, CHAIN_ID, after) })
      await chain.untilMining(what, async () =>
        heard.records.some(
          each => isSwap()(each) && each.payload.block_hash === hash && each.payload.finality === finality,
        ),
      )
      await heard.close()
      return heard.records
    }
    await chain.untilMining('its pools', async () => {
      // A refusal for asking too often is asked again.
      const pools = (await client.fetchPools({ chain_id: CHAIN_ID }).catch(() => null))?.pools ?? []
      return [pair, v3].every(address =>
        pools.some(each => each.pool_address === address && each.state !== null),
      )
    })
    await child.kill()
    // The first kill falls into a reorganisation that it sees happen, each further one into its next attempt.
    const [first, ...others] = Object.values(REORG_POINTS).map(dyingAt)
    child = await startChildService(config, first)
    const { hash } = await buy(90)
    await untilSeen('the trade', hash, 0, 'canonical')
    const { number } = await chain.head()
    const traded = Number((await chain.world.client.getBlock({ blockHash: hash })).number)
    // The branch that replaces its block has a trade as well: every kind of write is in its commit.
    const sale = chain.batch(chain.sellV2(pair, 'USDT', 15))
    await chain.reorgWith(number - traded + 1, [{ block: 0, ...sale }])
    await child.ended
    for (const point of others)
      await startChildService(config, point).then(
        dying => dying.ended,
        // Killed before it could say that it serves.
        (failure: unknown) => expect(String(failure)).toContain('ended with null'),
      )
    child = await startChildService(config)
    const last = await buy(60)
    const all = await untilSeen('the last trade', last.hash, 0, 'canonical')
    expect(all.filter(isSwap()).filter(({ payload }) => payload.finality === 'orphaned')).toHaveLength(2)
    const sequences = all.map(record => record.stream_sequence)
    expect(sequences).toEqual(sequences.map((_, at) => at + 1))
    const ids = all.map(recordIdOf).filter(id => id !== null)
    expect(new Set(ids).size).toBe(ids.length)
    const swaps = all
      .filter(isSwap())
      .map(({ payload }) => `${payload.block_hash} ${payload.log_index} ${payload.finality}`)
    expect(new Set(swaps).size).toBe(swaps.length)
    const unkilled = await startTestService(chain, { name: 'unkilled' })
    // A view is many requests: each is taken by a consumer with a quota of its own.
    let judge = 0
    const viewOfKilled = async () =>
      marketView(await clientOf(config, (child as ChildService).url, `judge-${judge++}`))
    let seen: object | null = null
    let expected: object | null = null
    try {
      // The one is queried once it is healthy and at the head; the other may still be starting, and then has no answer.
      await chain.untilMining('the same state', async () => {
        ;[seen, expected] = await Promise.all([viewOfKilled().catch(() => null), viewOf(unkilled)])
        return JSON.stringify(seen) === JSON.stringify(expected)
      })
    } catch (failure) {
      expect(seen).toEqual(expected)
      throw failure
    } finally {
      await unkilled.close()
    }
  })
})
