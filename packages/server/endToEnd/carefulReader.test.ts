/** What a careful reader of the answers found: freshness of the moment of reading, search by what a chain is made of. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CHAIN_ID } from './testing/plan.ts'
import { roomyClient } from './testing/roomy.ts'
import { startTestChain, type TestChain } from './testing/testChain.ts'
import { startTestService, type TestService } from './testing/testService.ts'
import { until } from './testing/until.ts'

let chain: TestChain
let service: TestService
let client: Awaited<ReturnType<typeof roomyClient>>
beforeAll(async () => {
  chain = await startTestChain()
  service = await startTestService(chain, { name: 'careful', tokens: ['LARK'] })
  client = await roomyClient(service)
  await chain.untilMining('LARK is priced', async () => {
    const quote = await client
      .quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('LARK') })
      .catch(() => null)
    return quote?.state === 'PRICED'
  })
})
afterAll(async () => {
  await service?.close()
  await chain?.close()
})

it('a pool that no block touched is as fresh as the last block that proves it unchanged', async () => {
  const where = { chain_id: CHAIN_ID, pool_address: chain.pool('uniswap-v2', 'USDC', 'LARK') }
  const before = (await client.fetchPool(where)).state
  const block = await chain.mine()
  await service.untilTip(block)
  await until('the pool is as fresh as the block', async () => {
    const { state } = await client.fetchPool(where)
    return (state?.verified_at_ms ?? 0) > (before?.verified_at_ms ?? 0)
  })
  const { state } = await client.fetchPool(where)
  expect(state?.stream_sequence).toBe(before?.stream_sequence)
  expect(state?.components.freshness).toMatchObject({ ttl_ms: before?.components.freshness.ttl_ms })

  // The snapshot is as committed, with the current feeds next to it.
  const { pools } = await client.fetchPools({ chain_id: CHAIN_ID })
  const row = pools.find(({ pool_address }) => pool_address === where.pool_address)
  expect(row?.state?.verified_at_ms).toBe(before?.verified_at_ms)
  expect(row?.reading?.verified_at_ms).toBeGreaterThanOrEqual(state?.verified_at_ms ?? 0)
  expect(row?.reading).toMatchObject({ feed: { status: 'HEALTHY' }, reason: null })
})

it('a chain is found by its factory and by its wrapped native token, with its whole record', async () => {
  const { chains } = await client.fetchChains()
  const [known] = chains
  const factory = known?.deployments[0]?.factory_address as `0x${string}`
  for (const address of [factory, known?.wrapped_native as `0x${string}`]) {
    const found = await client.search({ address })
    expect(found.chains).toMatchObject([
      { chain_id: CHAIN_ID, wrapped_native: known?.wrapped_native, deployments: known?.deployments },
    ])
    expect(found.chains[0]?.health).not.toBeNull()
  }
})

it('a token is found by its symbol and by a part of its name, in any case, the deepest first', async () => {
  for (const q of ['lark', 'LAR']) {
    const { tokens, pools } = await client.search({ q })
    expect(tokens[0]).toMatchObject({ chain_id: CHAIN_ID, token_address: chain.token('LARK').toLowerCase() })
    expect(pools).toEqual([])
  }
  expect((await client.search({ q: 'no%such_token' })).tokens).toEqual([])
  await expect(client.search({})).rejects.toMatchObject({ status: 400 })
  await expect(client.search({ q: 'x', address: chain.token('LARK') })).rejects.toMatchObject({ status: 400 })
})

it('quotes of routing assets within a quote have a whole as_of', async () => {
  const quote = await client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('LARK') })
  if (quote.state !== 'PRICED') throw new Error('LARK has no price')
  for (const asset of quote.routing_assets)
    expect(asset.as_of).toMatchObject({ stream_sequence: quote.as_of.stream_sequence })
})
