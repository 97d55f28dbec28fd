/**
 * Taxes read from the logs of real swaps: of pools of every family, and of a v4 manager, which holds the tokens of all
 * its pools and nets what it is paid.
 */
import type { Family } from '@assay/engine'
import {
  type Anvil,
  type Client,
  connect,
  createV2Pair,
  deployOddToken,
  deployTickFamilies,
  deployToken,
  deployTrader,
  deployV2Factory,
  DEV_ACCOUNT,
  introduce,
  type OddTokenName,
  send,
  startAnvil,
  testTokenAbi,
  type TickPool,
  trader as trades,
  type V4PoolKey,
} from '@assay/world'
import { type Address, encodeFunctionData, type Hex, parseAbi, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toLogEntry } from '../feed/answers/entry.ts'
import type { DeploymentConfig } from '../config/config.ts'
import { decodeBlock } from './decode.ts'
import { deployV4Router, route, type RouterStep } from './testing/v4Router.ts'
import { taxesIn } from './transferLogs.ts'
import { settledTax } from './v4/settlement.ts'

const TOKENS = ['Plain', 'BuyTax', 'SellTax', 'TransferTax', 'TaxOnTop'] as const satisfies OddTokenName[]
type TokenName = (typeof TOKENS)[number]

/** A pool of each family, and for v4 one that has native currency in place of its wrapped one. */
const POOLS = ['amm_v2', 'amm_v3', 'amm_v3_pancake', 'amm_algebra_v1', 'amm_v4', 'native'] as const
type PoolName = (typeof POOLS)[number]
const SHARED = ['amm_v4', 'native'] as const

type Pool = {
  readonly id: Hex
  readonly family: Family
  readonly token: Address
  /** Whether the token is the first of its two. */
  readonly isFirst: boolean
  readonly key: V4PoolKey | null
  swap(zeroForOne: boolean, amount: bigint): Hex
  add(liquidity: bigint): Hex
}

const ETHER = 10n ** 18n
const RESERVE = 1_000_000n * ETHER
const AMOUNT = 100n * ETHER
const ONE_X96 = 1n << 96n
const WIDE = 887_200
const GAS = 30_000_000n
const V2_FEE = { numerator: 997n, denominator: 1000n }
const COLLECTOR: Address = `0x${'fe'.repeat(20)}`

let anvil: Anvil
let client: Client
let native: Address
let manager: Address
let trader: Address
let router: Address
const markets = new Map<TokenName, Readonly<Record<PoolName, Pool>>>()

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 31_337 })
  client = connect(anvil.url)
  native = await deployToken(client, { symbol: 'WETH', decimals: 18 })
  const pairs = await deployV2Factory(client)
  const families = await deployTickFamilies(client)
  const provider = await deployTrader(client)
  trader = await deployTrader(client)
  const rich = [provider, trader, DEV_ACCOUNT]
  for (const address of rich) await client.setBalance({ address, value: 1n << 200n })
  await mint(native, rich)
  for (const name of TOKENS) {
    const token = await deployOddToken(client, name)
    await mint(token, rich)
    const { address } = await createV2Pair(client, pairs, [token, native])
    const pools: [PoolName, Pool][] = [['amm_v2', pairPool(address, token)]]
    const holders = new Set([address])
    for (const family of families)
      for (const other of family.family === 'amm_v4' ? [native, zeroAddress] : [native]) {
        const pool = await family.create([token, other], ONE_X96)
        if (pool.family === 'amm_v4') manager = pool.holder
        holders.add(pool.holder)
        pools.push([other === native ? pool.family : 'native', tickPool(pool, token, other)])
      }
    // Odd tokens know which contracts are pools, and exempt liquidity providers.
    await introduce(client, token, { pools: [...holders], exempt: [provider] })
    const added = await trades.batch(
      client,
      provider,
      pools.map(([, pool]) => pool.add(RESERVE)),
      GAS,
    )
    expect(added.every(({ ok }) => ok)).toBe(true)
    markets.set(name, Object.fromEntries(pools) as Record<PoolName, Pool>)
  }
  router = await deployV4Router(client, manager)
  for (const { amm_v4 } of markets.values()) await approve(amm_v4.token)
  await approve(native)
}, 300_000)
afterAll(() => anvil?.close())

async function mint(token: Address, accounts: readonly Address[]): Promise<void> {
  for (const account of accounts) {
    const args = [account, 1n << 180n] as const
    await send(client, {
      to: token,
      data: encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args }),
    })
  }
}

const approveAbi = parseAbi(['function approve(address spender, uint256 value) returns (bool)'])
const approve = (token: Address) =>
  send(client, {
    to: token,
    data: encodeFunctionData({ abi: approveAbi, functionName: 'approve', args: [router, 1n << 180n] }),
  })

const isBelow = (a: Address, b: Address): boolean => BigInt(a) < BigInt(b)

function pairPool(address: Address, token: Address): Pool {
  return {
    id: lower(address),
    family: 'amm_v2',
    token,
    isFirst: isBelow(token, native),
    key: null,
    swap: (zeroForOne, amount) => trades.swapExactInV2(address, zeroForOne, amount, V2_FEE),
    add: amount => trades.addV2(address, amount, amount),
  }
}

function tickPool(pool: TickPool, token: Address, other: Address): Pool {
  const end = Math.floor(WIDE / pool.tickSpacing) * pool.tickSpacing
  return {
    id: lower(pool.id),
    family: pool.family,
    token,
    isFirst: isBelow(token, other),
    key: pool.key,
    swap: (zeroForOne, amount) => pool.swap(zeroForOne, amount),
    add: liquidity => pool.add(-end, end, liquidity),
  }
}

const lower = (hex: Hex): Hex => hex.toLowerCase() as Hex

function poolOf(name: TokenName, pool: PoolName): Pool {
  const market = markets.get(name)
  if (market === undefined) throw new Error(`${name} has no market`)
  return market[pool]
}

/** What the logs of a transaction show, while only these pools are followed. */
async function seenIn(transactionHash: Hex, followed: readonly Pool[]) {
  const receipt = (await client.request({
    method: 'eth_getTransactionReceipt',
    params: [transactionHash],
  } as never)) as { readonly logs: readonly Record<string, unknown>[] }
  const logs = receipt.logs.map(log => toLogEntry(log))
  const pools = new Map(followed.map(pool => [pool.id as string, pool]))
  const deployment = {
    deploymentId: 'v4',
    family: 'amm_v4',
    factoryAddress: lower(manager),
  } as DeploymentConfig
  const block = {
    number: 1,
    hash: transactionHash,
    parentHash: transactionHash,
    timeMs: 0,
    proof: 'receipts',
    logs,
  } as const
  const events = decodeBlock(
    [deployment],
    block,
    id => pools.get(id)?.family ?? null,
    () => false,
  )
  return taxesIn(logs, events, id => {
    const pool = pools.get(id)
    if (pool === undefined) return null
    const { token, isFirst, key } = pool
    return { token: lower(token), side: isFirst ? 0 : 1, manager: key === null ? null : lower(manager) }
  }).map(({ kind, taxBps, pool }) => ({ kind, taxBps, pool }))
}

/** Trades of the trader's in one transaction. */
async function traded(...calls: readonly Hex[]): Promise<Hex> {
  const receipts: Hex[] = []
  const outcomes = await trades.batch(client, trader, calls, GAS, async (...given) => {
    const receipt = await send(...given)
    receipts.push(receipt.transactionHash)
    return receipt
  })
  expect(outcomes.filter(({ ok }) => !ok)).toEqual([])
  return receipts[0] as Hex
}

const sold = (pool: Pool): Hex => pool.swap(pool.isFirst, AMOUNT)
const bought = (pool: Pool): Hex => pool.swap(!pool.isFirst, AMOUNT)

async function routed(...steps: readonly RouterStep[]): Promise<Hex> {
  return (await route(client, router, steps)).transactionHash
}

const keyOf = ({ key }: Pool): V4PoolKey => key as V4PoolKey
/** What the token is traded against. */
const otherOf = (pool: Pool): Address => (pool.isFirst ? keyOf(pool).currency1 : keyOf(pool).currency0)
const settle = (currency: Address, amount: bigint, isFromSender = true): RouterStep => ({
  do: 'SETTLE',
  currency,
  amount,
  isFromSender,
})
const swap = (pool: Pool, isSale: boolean): RouterStep => ({
  do: 'SWAP',
  key: keyOf(pool),
  zeroForOne: isSale === pool.isFirst,
})
const take = (currency: Address, to: Address = DEV_ACCOUNT): RouterStep => ({ do: 'TAKE', currency, to })

describe.each(POOLS)('a swap of a pool of %s', name => {
  it.each([
    ['Plain', 'SALE', 0],
    ['Plain', 'BUY', 0],
    ['TaxOnTop', 'SALE', 476],
    ['BuyTax', 'BUY', 500],
  ] as const)('R-sell-6: of %s shows the tax on a %s', async (token, kind, taxBps) => {
    const pool = poolOf(token, name)
    const hash = await traded(kind === 'SALE' ? sold(pool) : bought(pool))
    expect(await seenIn(hash, [pool])).toEqual([{ kind, taxBps, pool: pool.id }])
  })
})

describe.each(SHARED)('a swap through a router over the manager, pool %s', name => {
  it.each([
    ['Plain', 0],
    ['SellTax', 3000],
    ['TransferTax', 400],
  ] as const)('R-sell-6: a sale of %s that pays first shows its tax', async (token, taxBps) => {
    const pool = poolOf(token, name)
    const hash = await routed(settle(pool.token, AMOUNT), swap(pool, true), take(otherOf(pool)))
    expect(await seenIn(hash, [pool])).toEqual([{ kind: 'SALE', taxBps, pool: pool.id }])
  })
})

describe('several settlements of a manager in one transaction', () => {
  it('R-sell-6: a sale that continues through an unfollowed pool balances by itself', async () => {
    const [first, next] = [poolOf('SellTax', 'amm_v4'), poolOf('Plain', 'amm_v4')]
    const hash = await routed(
      settle(first.token, AMOUNT),
      swap(first, true),
      swap(next, false),
      take(next.token),
    )
    expect(await seenIn(hash, [first])).toEqual([{ kind: 'SALE', taxBps: 3000, pool: first.id }])
  })

  it('R-sell-6: two tokens traded for each other are distinguished', async () => {
    const [first, next] = [poolOf('SellTax', 'amm_v4'), poolOf('BuyTax', 'amm_v4')]
    const hash = await routed(
      settle(first.token, AMOUNT),
      swap(first, true),
      swap(next, false),
      take(next.token),
    )
    expect(await seenIn(hash, [first, next])).toEqual([
      { kind: 'SALE', taxBps: 3000, pool: first.id },
      { kind: 'BUY', taxBps: 500, pool: next.id },
    ])
  })

  it('R-sell-6: a sale split over two pools is recognised as one, and not at all if one is not followed', async () => {
    const pools = [poolOf('TaxOnTop', 'amm_v4'), poolOf('TaxOnTop', 'native')] as const
    const hash = await traded(sold(pools[0]), sold(pools[1]))
    expect(await seenIn(hash, pools)).toEqual([{ kind: 'SALE', taxBps: 476, pool: pools[0].id }])
    expect(await seenIn(hash, [pools[0]])).toEqual([])
  })

  it('R-sell-6: a sale split with a pool of its own tokens gives no result', async () => {
    const pools = [poolOf('TaxOnTop', 'amm_v4'), poolOf('TaxOnTop', 'amm_v2')] as const
    expect(await seenIn(await traded(sold(pools[0]), sold(pools[1])), pools)).toEqual([])
  })

  it('R-sell-6: a sale beside a deposit of liquidity gives no result', async () => {
    const pool = poolOf('TaxOnTop', 'amm_v4')
    expect(await seenIn(await traded(sold(pool), pool.add(ETHER)), [pool])).toEqual([])
  })

  it('R-sell-6: a purchase that is sold again gives no result', async () => {
    const pool = poolOf('Plain', 'amm_v4')
    expect(await seenIn(await traded(bought(pool), sold(pool)), [pool])).toEqual([])
  })

  it('R-sell-6: a share of a purchase that a front end takes is no tax', async () => {
    const pool = poolOf('Plain', 'amm_v4')
    const portion: RouterStep = { do: 'TAKE_PORTION', currency: pool.token, to: COLLECTOR, bps: 100n }
    const hash = await routed(settle(native, AMOUNT), swap(pool, false), portion, take(pool.token))
    expect(await seenIn(hash, [pool])).toEqual([])
  })

  it('R-sell-6: a sale paid by two accounts gives no result', async () => {
    const pool = poolOf('SellTax', 'amm_v4')
    await mint(pool.token, [router])
    const hash = await routed(
      settle(pool.token, AMOUNT),
      settle(pool.token, AMOUNT, false),
      swap(pool, true),
      take(native),
    )
    expect(await seenIn(hash, [pool])).toEqual([])
  })
})

describe('a token whose Transfer logs show more than arrives', () => {
  const [token, pool, holder, payer] = ['a1', 'b2', 'c3', 'd4'].map(byte => `0x${byte.repeat(20)}`) as [
    Address,
    Address,
    Address,
    Address,
  ]
  const swapped = { pool, token, manager: holder, paidIn: 90n, paidOut: 0n }
  const transfers = [{ from: payer, to: holder, value: 100n }]

  it('R-sell-6: is taxed when the manager did nothing but that swap, and not judged otherwise', () => {
    expect(settledTax([swapped], transfers, 1)).toEqual({ kind: 'SALE', token, pool, taxBps: 1000 })
    expect(settledTax([swapped], transfers, 2)).toBeNull()
  })

  it('R-sell-6: is not judged when pools that hold their own tokens swapped it as well', () => {
    const own = { ...swapped, manager: null }
    const exact = [{ from: payer, to: holder, value: 90n }]
    expect(settledTax([swapped], exact, 1)).toMatchObject({ taxBps: 0 })
    const aside = [own, { ...own, paidIn: 0n, paidOut: 90n }]
    expect(settledTax([swapped, ...aside], exact, 3)).toBeNull()
  })

  it('R-sell-6: is not judged when part of the payment comes back', () => {
    const back = { from: holder, to: payer, value: 10n }
    expect(settledTax([swapped], [...transfers, back], 1)).toBeNull()
  })
})
