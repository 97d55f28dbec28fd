/** A list of pools that is changed between two starts: what is added is known from then on, and its past only when it was read. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CHAIN_ID } from './testing/plan.ts'
import { roomyClient } from './testing/roomy.ts'
import { type Block, type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { startTestService, type TestService } from './testing/testService.ts'
import { until } from './testing/until.ts'

let chain: TestChain
let service: TestService
let pair: Hex
beforeAll(async () => {
  chain = await startTestChain()
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
})
afterAll(async () => {
  await service?.close()
  await chain?.close()
})

const trade = (usd: number): Promise<Block> => chain.run(chain.sellV2(pair, 'MOTH', usd))

it('O8: a pool added to the list has a state at once, and no earlier event until a back-fill has read them', async () => {
  const past = [await trade(10), await trade(20)]
  service = await startTestService(chain, { name: 'list', tokens: ['LARK'] })
  past.push(await trade(30))
  await service.untilTip(await chain.mine(12))
  const first = await service.client()
  const { pools } = await first.fetchPools({ chain_id: CHAIN_ID })
  expect(pools.length).toBeGreaterThan(0)
  expect(pools.map(each => each.pool_address)).not.toContain(pair)
  await service.close()

  service = await startTestService(chain, { name: 'list', tokens: ['LARK'], pools: [pair] })
  const client = await roomyClient(service)
  const events = async () => {
    const page = await client.fetchPoolEvents({ chain_id: CHAIN_ID, pool_address: pair, kind: 'SWAP' })
    return page.events.map(each => each.block_hash).reverse()
  }
  await until('the pool is there with its reserves', async () => {
    const seen = await client.fetchPool({ chain_id: CHAIN_ID, pool_address: pair }).catch(() => null)
    return seen !== null && seen.state !== null
  })
  expect(await events()).toEqual([])
  const next = await trade(40)
  await service.untilTip(next)
  expect(await events()).toEqual([next.hash])

  await client.admin.startBackfill({ chain_id: CHAIN_ID })
  await until('the past is read', async () => {
    const [scan] = (await client.admin.fetchBackfills()).backfills
    return scan?.status === 'DONE'
  })
  expect(await events()).toEqual([...past, next].map(({ hash }) => hash))
})
