import type { Envelope, PricedQuote } from '@assay/sdk'
import { createV3Pool, initialiseV3Pool, trader, v3PoolAbi } from '@assay/world'
import { getAddress } from 'viem'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { isPoolUpsert, isSwap, isTokenRetract, isTokenUpsert } from './testing/record.ts'
import { chain, client, serveChain, service } from './testing/servedChain.ts'
import type { Block, Hex } from './testing/testChain.ts'
import { until } from './testing/until.ts'

/** DUAL has a pool with each stable, ONLY with one; DEEP two deep pools and a thin one; the last two none yet. */
const WITH = {
  tokens: [
    token(0x61, 'DUAL', 4),
    token(0x62, 'ONLY', 6),
    token(0x63, 'DEEP', 0.2),
    token(0x64, 'FRESH', 10),
    token(0x65, 'NOVEL', 20),
  ],
  pools: [
    { deployment: 'uniswap-v2', pair: ['USDC', 'DUAL'], usd: 800_000 },
    { deployment: 'v2-two', pair: ['USDT', 'DUAL'], usd: 700_000 },
    { deployment: 'uniswap-v2', pair: ['USDC', 'ONLY'], usd: 1_200_000 },
    { deployment: 'uniswap-v2', pair: ['USDC', 'DEEP'], usd: 5_000_000 },
    { deployment: 'v2-two', pair: ['USDT', 'DEEP'], usd: 4_000_000 },
    { deployment: 'uniswap-v2', pair: ['WETH', 'DEEP'], usd: 8000 },
  ],
} as const

serveChain(planWith(WITH))
beforeAll(async () => service.untilTip(await chain.mine(2)))
beforeEach(() => service.untilWell())

async function priced(symbol: string): Promise<PricedQuote> {
  const quote = await client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token(symbol) })
  if (quote.state !== 'PRICED') throw new Error(`${symbol} is ${JSON.stringify(quote).slice(0, 300)}`)
  return quote
}
const poolState = async (pool: Hex) =>
  (await client.fetchPool({ chain_id: CHAIN_ID, pool_address: pool })).state ?? null
/** Records of one step that stand on a block. */
const at = (block: Block) => (record: Envelope) =>
  'as_of' in record.payload && record.payload.as_of.block_hash === block.hash

describe('liquidity pulled without a swap', () => {
  it.each([
    ['a pair', 'ONLY', () => chain.pool('uniswap-v2', 'USDC', 'ONLY')],
    ['a concentrated pool', 'LARK', () => chain.pool('uniswap-v3', 'WETH', 'LARK')],
  ])(
    'from %s lowers its depth and its score in the same block, and not its price',
    async (kind, symbol, poolOf) => {
      const pool = poolOf()
      const [before, quoted] = [await poolState(pool), await priced(symbol)]
      const after = await service.head()
      const calls = kind === 'a pair' ? [await chain.pullV2(pool, 990n)] : await chain.pullV3(pool, 990n)
      const block = await chain.run(...calls)
      await service.untilTip(block)
      const records = await service.records(after)
      expect(records.filter(isSwap())).toEqual([])
      const record = records.find(isPoolUpsert(pool))
      expect(record?.payload.block_hash).toBe(block.hash)
      const now = record?.payload
      const depths = [before, now].map(state => Number(state?.depth?.effective_microusd))
      expect((depths[1] ?? 0) / (depths[0] ?? 1)).toBeCloseTo(0.01, 3)
      expect(now?.score).toBeLessThan(before?.score ?? 0)
      // A burn rounds reserves by a unit at most; a concentrated pool's price does not move at all.
      expect(Number(now?.marginal?.display) / Number(before?.marginal?.display)).toBeCloseTo(1, 9)
      const requoted = await priced(symbol)
      expect(at(block)({ payload: requoted } as never)).toBe(true)
      const hop = requoted.routes.flatMap(route => route.hops).find(each => each.pool_address === pool)
      expect(hop?.score).toBe(now?.score)
      if (symbol === 'ONLY') expect(requoted.confidence.score).toBeLessThan(quoted.confidence.score)
    },
  )
})

describe('a print in a thin pool', () => {
  it('a thousand times off does not move the published price of a token with deeper pools', async () => {
    const thin = chain.pool('uniswap-v2', 'WETH', 'DEEP')
    const [before, quoted] = [await poolState(thin), await priced('DEEP')]
    // x·y = k: for a thousand times the price, its square root times the reserve.
    const block = await chain.run(chain.sellV2(thin, 'WETH', 8000 * (Math.sqrt(1000) - 1) * 1.01))
    await service.untilTip(block)
    const now = await poolState(thin)
    expect(now?.block_hash).toBe(block.hash)
    expect(Number(now?.marginal?.display) / Number(before?.marginal?.display)).toBeGreaterThan(1000)
    const requoted = await priced('DEEP')
    expect(requoted.price_usd).toEqual(quoted.price_usd)
    expect(requoted.selected?.route_id).toBe(quoted.selected?.route_id)
    for (const route of requoted.routes.filter(each => each.hops[0]?.pool_address === thin)) {
      expect(route.accepted).toBe(false)
      expect(['IMMATERIAL', 'OUTLIER', 'VALUE_IMBALANCE']).toContain(route.reason)
    }
    expect(Number(requoted.support?.high.display) / Number(quoted.support?.high.display)).toBeCloseTo(1, 6)
  })
})

describe('a stable whose feed leaves a dollar', () => {
  /** Answers are read at a block, at most every two seconds. */
  const untilRecord = (what: string, after: number, is: (record: Envelope) => boolean) =>
    until(what, async () => {
      const found = (await service.records(after)).find(is)
      if (found === undefined) await service.untilTip(await chain.mine())
      return found
    })

  it('slightly is valued at its answer, and caps what depends on it', async () => {
    const after = await service.head()
    const before = await priced('ONLY')
    await chain.world.life.answer('USDC', 0.985)
    const only = chain.token('ONLY')
    await untilRecord('ONLY again', after, isTokenUpsert(only))
    const now = await priced('ONLY')
    expect(now.stable).toMatchObject({ status: 'DEPEG', usd: { numerator: '197', denominator: '200' } })
    expect(now.confidence.caps).toContainEqual({ code: 'STABLE_DEPEG', cap: 6 })
    expect(BigInt(now.price_usd.numerator) * BigInt(before.price_usd.denominator) * 200n).toBe(
      BigInt(before.price_usd.numerator) * BigInt(now.price_usd.denominator) * 197n,
    )
  })

  it('far is suspended: tokens with that stable alone are retracted, those with another stable keep their price', async () => {
    const after = await service.head()
    const published = (await service.records()).findLast(isTokenUpsert(chain.token('ONLY')))
    await chain.world.life.answer('USDC', 0.9)
    for (const symbol of ['ONLY', 'USDC']) {
      const retraction = await untilRecord(`${symbol} retracted`, after, isTokenRetract(chain.token(symbol)))
      expect(retraction.payload).toMatchObject({
        reason: 'STABLE_SUSPENDED',
        current: { state: 'UNPRICED', reason: 'STABLE_SUSPENDED' },
      })
      if (symbol === 'ONLY')
        expect(retraction.payload).toMatchObject({
          retracted: { record_id: published?.payload.record_id, stream_sequence: published?.stream_sequence },
        })
    }
    const dual = await priced('DUAL')
    expect(dual.stable.token_address).toBe(chain.token('USDT'))
    expect(Number(dual.price_usd.display)).toBeCloseTo(4 * 0.997, 1)
    expect(dual.routes.filter(route => route.accepted).map(route => route.stable?.token_address)).toEqual([
      chain.token('USDT'),
    ])
    expect((await service.records(after)).filter(isTokenRetract(chain.token('DUAL')))).toEqual([])
    expect((await priced('MOTH')).stable.token_address).toBe(chain.token('USDT'))
    const quote = await client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('ONLY') })
    expect(quote).toMatchObject({
      state: 'UNPRICED',
      reason: 'STABLE_SUSPENDED',
      candidates: [{ rule: 'STABLE_SUSPENDED' }],
    })
  })

  it('and returns is trusted again', async () => {
    const after = await service.head()
    await chain.world.life.answer('USDC', 1)
    const only = chain.token('ONLY')
    await untilRecord(
      'ONLY priced again',
      after,
      record => isTokenUpsert(only)(record) && record.payload.state === 'PRICED',
    )
    expect((await priced('ONLY')).stable).toMatchObject({ status: 'OK', usd: { display: '1' } })
  })
})

describe('a pool created after the start', () => {
  const untilPriced = (symbol: string, nudge: () => Promise<Block>) =>
    until(`${symbol} priced`, async () => {
      await service.untilTip(await nudge())
      const row = await service.store.readToken(CHAIN_ID, chain.token(symbol))
      return row?.price?.includes('"state":"PRICED"')
    })

  it('a pair, is found by its factory’s log and priced as it earns its weight', async () => {
    const pair = await chain.createV2('v2-two', 'USDT', 'FRESH')
    const created = await chain.head()
    const filled = await chain.run(chain.fillV2(pair, 'USDT', 'FRESH', 40_000_000))
    await service.untilTip(filled)
    const pool = await client.fetchPool({ chain_id: CHAIN_ID, pool_address: pair })
    expect(pool).toMatchObject({ deployment_id: 'v2-two', created_block: created.number })
    expect(pool.state?.reserves).toEqual(await chain.reserves(pair))
    // Its average starts at nothing: what was not there half an hour ago weighs little.
    expect(Number(pool.state?.depth?.effective_microusd)).toBeLessThan(
      Number(pool.state?.depth?.current_microusd) / 10,
    )
    const { events } = await client.fetchPoolEvents({ chain_id: CHAIN_ID, pool_address: pair })
    expect(events.map(each => each.kind)).toEqual(['MINT', 'SYNC', 'CREATED'])
    await untilPriced('FRESH', () => chain.run(chain.sellV2(pair, 'USDT', 5)))
    expect(Number((await priced('FRESH')).price_usd.display)).toBeCloseTo(10 * 0.997, 1)
  })

  it('a concentrated one too, complete from its first tick', async () => {
    const { client: node, plan } = chain.world
    const factory = plan.deployments.find(each => each.id === 'uniswap-v3')?.factory as Hex
    const pair = [getAddress(chain.token('USDC')), getAddress(chain.token('NOVEL'))] as const
    const made = await createV3Pool(node, factory, pair, 3000)
    // USDC has 6 decimals, NOVEL 18 and a price of 20 dollars; USDC is the lower address.
    expect(made.token0.toLowerCase()).toBe(chain.token('USDC'))
    const tick = 60 * Math.round(Math.log(10 ** 12 / 20) / Math.log(1.0001) / 60)
    await initialiseV3Pool(node, made, BigInt(Math.floor(1.0001 ** (tick / 2) * 2 ** 48)) << 48n)
    const block = await chain.run(
      trader.mintV3(made.address, tick - 6000, tick + 6000, 10n ** 22n),
      trader.mintV3(made.address, tick - 60, tick + 60, 10n ** 20n),
    )
    await service.untilTip(block)
    const address = made.address.toLowerCase() as Hex
    const state = await poolState(address)
    const [sqrtPriceX96] = await node.readContract({
      address: made.address,
      abi: v3PoolAbi,
      functionName: 'slot0',
    })
    expect(state).toMatchObject({
      finality: 'canonical',
      slot: { sqrt_price_x96: sqrtPriceX96.toString(), liquidity: (10n ** 22n + 10n ** 20n).toString() },
      depth: { current_microusd: expect.any(String) },
    })
    await untilPriced('NOVEL', () => chain.run(trader.swapV3(made.address, true, 5_000_000n)))
    expect(Number((await priced('NOVEL')).price_usd.display)).toBeCloseTo(20 * 0.997, 0)
    expect(service.faults).toEqual([])
  })
})
