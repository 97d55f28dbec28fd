/** A token whose only liquidity is a Uniswap v4 pool with the native currency, from its creation on. */
import { type Client, type PricedQuote, verify } from '@assay/sdk'
import {
  deployV4Hook,
  deployV4Manager,
  initialiseV4Pool,
  send,
  trader,
  V4_DYNAMIC_FEE,
  v4HookAddress,
  v4Key,
  type V4Pool,
} from '@assay/world'
import { encodeFunctionData, getAddress, parseAbi, zeroAddress } from 'viem'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { isPoolUpsert, isSwap, isTokenUpsert } from './testing/record.ts'
import { chain, client, serve, serveChain, service } from './testing/servedChain.ts'
import type { Hex } from './testing/testChain.ts'
import { openTestService } from './testing/testService.ts'

/** None of them has a pool in the plan. */
const WITH = {
  tokens: [
    token(0x50, 'NEWT', 0.5),
    token(0x51, 'OLM', 2),
    token(0x52, 'TOAD', 0.5),
    token(0x53, 'PIKE', 0.5),
  ],
} as const

const Q96 = 1n << 96n
const hookAbi = parseAbi(['function setManager(address manager)', 'function setFee(uint24 fee)'])
/** 4000 and 1000 of the token for one of the native currency, both of 18 decimals. */
const ROOT = {
  4000: (Q96 * 6_324_555_320n) / 100_000_000n,
  1000: (Q96 * 3_162_277_660n) / 100_000_000n,
} as const
/** A young pool weighs little at first: with so much of it that is enough after a second. */
const LIQUIDITY = 10n ** 26n
const WHOLE_RANGE = [-887_220, 887_220] as const
const ETHER = 10n ** 18n
/** More than what a hop is judged by at least. */
const SOLD = 200_000n * ETHER

let manager: Hex
let newt: V4Pool
let olm: V4Pool
const deployment = () => ({
  deployment_id: 'uniswap-v4',
  family: 'amm_v4',
  factory_address: manager,
  deployment_block: 0,
})
const options = () => ({
  deployments: [deployment()],
  tokens: ['LARK', 'MOTH', 'NEWT', 'OLM', 'TOAD', 'PIKE'],
})

serveChain(planWith(WITH), async () => {
  const { client: node, seeded } = chain.world
  manager = await deployV4Manager(node)
  await node.setBalance({ address: seeded.trader, value: 1n << 140n })
  newt = await createPool('NEWT', 3000, ROOT[4000], zeroAddress)
  return options()
})
beforeAll(async () => service.untilTip(await chain.mine(4)))
beforeEach(() => service.untilWell())

/** Of the native currency and a token, with liquidity everywhere. */
async function createPool(symbol: string, fee: number, root: bigint, hooks: Hex): Promise<V4Pool> {
  const key = v4Key([zeroAddress, getAddress(chain.token(symbol))], fee, 60, hooks)
  const { pool } = await initialiseV4Pool(chain.world.client, manager, key, root)
  await chain.run(trader.modifyV4(manager, key, ...WHOLE_RANGE, LIQUIDITY))
  return pool
}

const path = (symbol: string) => ({ chain_id: CHAIN_ID, token_address: chain.token(symbol) })

const priced = (symbol: string): Promise<PricedQuote> =>
  chain.untilMining(`a price of ${symbol}`, async () => {
    const quote = await client.quoteToken(path(symbol))
    return quote.state === 'PRICED' ? quote : null
  })

/** Sells units of the token of a pool. */
const sell = ({ key }: V4Pool, amount: bigint) => trader.swapV4(manager, key, false, amount)

describe('a pool that is found by look-up', () => {
  it('prices its token through the wrapped native currency', async () => {
    const { price_usd, routes } = await priced('NEWT')
    expect(Number(price_usd.display) / 0.5).toBeGreaterThan(0.98)
    expect(Number(price_usd.display) / 0.5).toBeLessThanOrEqual(1)
    const [hop] = routes[0]?.hops ?? []
    expect(hop).toMatchObject({
      pool_id: newt.id,
      pool_address: newt.id,
      manager_address: manager.toLowerCase(),
      is_native: true,
      family: 'amm_v4',
      fee_ppm: 3000,
      from: chain.token('NEWT'),
      to: chain.token('WETH'),
      slot: { lp_fee_ppm: 3000, protocol_fee0_ppm: 0, protocol_fee1_ppm: 0 },
      pool_key: { currency0: zeroAddress, currency1: chain.token('NEWT'), fee: 3000, tick_spacing: 60 },
    })
    expect(service.faults).toEqual([])
  })

  it('is recomputed from its quote, and from the manager’s own storage', async () => {
    const quote = await priced('NEWT')
    const { differences, verified } = await verify(quote, { rpc: chain.world.url })
    expect({ differences, verified }).toEqual({ differences: [], verified: true })
  })

  it('takes the evidence of a swap that sells the token, and lists its events', async () => {
    const after = await service.head()
    const block = await chain.run(sell(newt, SOLD))
    await service.untilRecord('the swap', after, isSwap(newt.id))
    await service.untilRecord('the pool', after, isPoolUpsert(newt.id))
    await service.untilRecord('the price', after, isTokenUpsert(chain.token('NEWT')))
    const quote = await priced('NEWT')
    const evidence = quote.routes[0]?.hops[0]?.evidence
    expect(evidence).toMatchObject({ kind: 'OBSERVED_SWAP', amount_in: SOLD.toString() })
    const { differences, verified } = await verify(quote, { rpc: chain.world.url })
    expect({ differences, verified }).toEqual({ differences: [], verified: true })
    const { events } = await client.fetchPoolEvents({
      chain_id: CHAIN_ID,
      pool_address: newt.id,
      from_block: block.number,
      to_block: block.number,
    })
    expect(events).toMatchObject([{ kind: 'SWAP', pool_id: newt.id, fee_ppm: '3000' }])
  })

  it('R-sell-1: is where its token is bought and sold, with native currency, and verify repeats it', async () => {
    const quote = await chain.untilMining('a simulated sale of NEWT', async () => {
      const found = await priced('NEWT')
      return found.sellability?.method === 'SIMULATE' ? found : null
    })
    expect(quote.sellability).toMatchObject({
      status: 'SELLABLE',
      sell_tax_bps: 0,
      pool_id: newt.id,
      path: [
        {
          pool_id: newt.id,
          family: 'amm_v4',
          manager_address: manager.toLowerCase(),
          wrapped_address: chain.token('WETH'),
          pool_key: { currency0: zeroAddress, fee: 3000 },
        },
      ],
    })
    const { differences, unchecked } = await verify(quote, { rpc: chain.world.url })
    expect({ differences, unchecked }).toEqual({ differences: [], unchecked: [] })
    const [step] = quote.sellability?.path ?? []
    const forged = { ...step, pool_key: { ...step?.pool_key, fee: 500 } }
    const lie = { ...quote, sellability: { ...quote.sellability, path: [forged] } } as PricedQuote
    expect(await verify(lie, { rpc: chain.world.url })).toMatchObject({ verified: false })
  })

  it('is shown under its id', async () => {
    const answer = await client.quotePool({ chain_id: CHAIN_ID, pool_address: newt.id })
    expect(answer).toMatchObject({ pool_id: newt.id, pool_address: newt.id, family: 'amm_v4' })
    const found = await client.search({ address: newt.id })
    const row = { pool_id: newt.id, pool_address: newt.id, manager_address: manager.toLowerCase() }
    expect(found.pools).toMatchObject([row])
    const { pools } = await client.fetchPools({ chain_id: CHAIN_ID, token_address: chain.token('NEWT') })
    expect(pools).toMatchObject([row])
    expect(await client.fetchPool({ chain_id: CHAIN_ID, pool_address: newt.id })).toMatchObject(row)
    const other = await client.search({ address: manager })
    expect(other.chains).toMatchObject([{ chain_id: CHAIN_ID }])
  })
})

describe('a pool created while the service follows', () => {
  it('is known from the manager’s log, and removed with the block that created it', async () => {
    await service.untilWell()
    const snapshot = await chain.snapshot()
    const after = await service.head()
    olm = await createPool('OLM', 500, ROOT[1000], zeroAddress)
    await service.untilRecord('the pool', after, isPoolUpsert(olm.id))
    await service.untilRecord('the price', after, record => isTokenUpsert(chain.token('OLM'))(record))
    expect((await priced('OLM')).routes[0]?.hops[0]?.pool_id).toBe(olm.id)
    await chain.revert(snapshot)
    await service.untilTip(await chain.mine(4))
    expect(await client.quoteToken(path('OLM'))).toMatchObject({ state: 'UNPRICED' })
  })

  it('is restored when its swap is orphaned', async () => {
    const before = await priced('NEWT')
    await service.untilTip(await chain.run(sell(newt, 5000n * ETHER)))
    expect((await priced('NEWT')).price_usd).not.toEqual(before.price_usd)
    await service.untilTip(await chain.reorg(1))
    const now = await priced('NEWT')
    expect(now.price_usd).toEqual(before.price_usd)
    expect(now.routes[0]?.hops[0]?.slot).toEqual(before.routes[0]?.hops[0]?.slot)
    const { differences } = await verify(now, { rpc: chain.world.url })
    expect(differences).toEqual([])
  })
})

describe('an id that no pool has', () => {
  it('is NOT_A_POOL', async () => {
    const quoted = client.quotePool({ chain_id: CHAIN_ID, pool_address: `0x${'5'.repeat(64)}` })
    await expect(quoted).rejects.toMatchObject({ status: 404, code: 'NOT_A_POOL' })
  })
})

describe('a hook', () => {
  it('R-hook-2: that sets the fee leaves a price, with a cap', async () => {
    const hooks = await deployV4Hook(
      chain.world.client,
      'MockHooks',
      manager,
      v4HookAddress(0xfeen, 'beforeSwap', 'afterSwap'),
    )
    const after = await service.head()
    const pool = await createPool('TOAD', 3000, ROOT[4000], hooks)
    await service.untilRecord('the pool', after, isPoolUpsert(pool.id))
    await service.untilRecord('the price', after, isTokenUpsert(chain.token('TOAD')))
    const [hop] = (await priced('TOAD')).routes[0]?.hops ?? []
    expect(hop?.caps).toContainEqual({ code: 'HOOK_FEE', cap: 6 })
  })

  it('R-hook-2: that overrides the stored fee for a swap leaves the pool sound, at the fee that was paid', async () => {
    const { client: node } = chain.world
    const address = v4HookAddress(0xfee2n, 'beforeSwap')
    const hooks = await deployV4Hook(node, 'DynamicReturnFeeTestHook', manager, address)
    for (const data of [
      encodeFunctionData({ abi: hookAbi, functionName: 'setManager', args: [manager] }),
      encodeFunctionData({ abi: hookAbi, functionName: 'setFee', args: [12_345] }),
    ])
      await send(node, { to: hooks, data })
    const after = await service.head()
    const pool = await createPool('PIKE', V4_DYNAMIC_FEE, ROOT[4000], hooks)
    await service.untilRecord('the pool', after, isPoolUpsert(pool.id))
    await service.untilTip(await chain.run(sell(pool, 5000n * ETHER)))
    const hopOf = async () => {
      const quote = await priced('PIKE')
      const { differences } = await verify(quote, { rpc: chain.world.url })
      expect(differences).toEqual([])
      return quote.routes.flatMap(({ hops }) => hops).find(({ pool_id }) => pool_id === pool.id)
    }
    expect((await hopOf())?.slot).toMatchObject({ lp_fee_ppm: 12_345 })
  })

  it('R-hook-1: that returns amounts is refused by name', async () => {
    const address = v4HookAddress(0xbadn, 'afterSwap', 'afterSwapReturnsDelta')
    const hooks = await deployV4Hook(chain.world.client, 'FeeTakingHook', manager, address)
    const after = await service.head()
    const pool = await createPool('OLM', V4_DYNAMIC_FEE, ROOT[1000], hooks)
    await service.untilRecord('the pool', after, isPoolUpsert(pool.id))
    await service.untilTip(await chain.mine())
    const quote = await client.quoteToken(path('OLM'))
    expect(quote).toMatchObject({ state: 'UNPRICED' })
    expect(JSON.stringify(quote)).toContain('"rule":"HOOK_UNSUPPORTED"')
    expect(JSON.stringify(quote)).toContain(address)
  })
})

describe('a service that restarts', () => {
  it('continues from the store', async () => {
    const before = await priced('NEWT')
    await service.close()
    await chain.run(sell(newt, 700n * ETHER))
    await serve(openTestService(chain, options()))
    await service.untilWell()
    const now = await priced('NEWT')
    expect(now.price_usd).not.toEqual(before.price_usd)
    const { differences } = await verify(now, { rpc: chain.world.url })
    expect(differences).toEqual([])
    expect(service.faults).toEqual([])
  })
})

describe('pools of one manager', () => {
  it('are listed by their ids, each once, in pages of one and two', async () => {
    const after = await service.head()
    const key = (fee: number, spacing: number) =>
      v4Key([getAddress(chain.token('USDC')), getAddress(chain.token('OLM'))], fee, spacing, zeroAddress)
    const made: Hex[] = []
    for (const [fee, spacing] of [
      [100, 1],
      [500, 10],
      [3000, 60],
      [10_000, 200],
    ] as const)
      made.push((await initialiseV4Pool(chain.world.client, manager, key(fee, spacing), Q96)).pool.id)
    for (const id of made) await service.untilRecord('a pool', after, isPoolUpsert(id))
    for (const narrowed of [{}, { token_address: chain.token('OLM') }]) {
      const query = { chain_id: CHAIN_ID, ...narrowed }
      const { pools: whole } = await client.fetchPools({ ...query, limit: 1000 })
      expect(whole.map(({ pool_id }) => pool_id)).toEqual(expect.arrayContaining(made))
      for (const limit of [1, 2]) {
        const rows: (typeof whole)[number][] = []
        let cursor: string | null = null
        do {
          const page: Awaited<ReturnType<Client['fetchPools']>> = await client.fetchPools({
            ...query,
            limit,
            ...(cursor === null ? {} : { cursor }),
          })
          rows.push(...page.pools)
          cursor = page.next_cursor
        } while (cursor !== null && rows.length <= whole.length)
        expect(rows.map(({ pool_id }) => pool_id)).toEqual(whole.map(({ pool_id }) => pool_id))
        const ours = rows.filter(({ pool_id }) => made.includes(pool_id))
        expect(ours.map(row => row.manager_address)).toEqual(made.map(() => manager.toLowerCase()))
      }
    }
  })
})
