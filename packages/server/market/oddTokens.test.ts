/**
 * The probe on tokens that behave oddly, on a pool of every family for each: every trap that code and state decide is
 * flagged, nothing honest is called unsellable, and taxes are right to a basis point.
 */
import { FAMILIES } from '@assay/engine'
import {
  type Ask,
  type Judgement,
  probe,
  probeFamily,
  type ProbeHop,
  type SellabilityStatus,
} from '@assay/sdk/probe'
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
  introduce,
  ODD_TOKENS,
  type OddTokenName,
  send,
  startAnvil,
  testTokenAbi,
  type TickPool,
  trader as trades,
  turn,
} from '@assay/world'
import { type Address, encodeFunctionData, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

type Wanted = {
  readonly status: SellabilityStatus
  readonly taxes?: readonly [buy: number | null, transfer: number | null, sell: number | null]
  readonly reason?: string
  /** Where no later block can be looked at. */
  readonly withinBlock: SellabilityStatus
}

const sellable: Wanted = { status: 'SELLABLE', taxes: [0, 0, 0], withinBlock: 'SELLABLE' }
const taxed = (buy: number, transfer: number, sell: number, reason?: string): Wanted => ({
  status: 'TAXED',
  taxes: [buy, transfer, sell],
  withinBlock: 'TAXED',
  ...(reason === undefined ? {} : { reason }),
})
const unsellable = (reason: string): Wanted => ({ status: 'UNSELLABLE', reason, withinBlock: 'UNKNOWN' })
const coolDown: Wanted = { status: 'SELLABLE', withinBlock: 'UNKNOWN' }

const WANTED: Readonly<Record<OddTokenName, Wanted>> = {
  Plain: sellable,
  SixDecimals: sellable,
  RevertingName: sellable,
  NoReturn: sellable,
  LongReturn: sellable,
  Hooks: sellable,
  Bonus: sellable,
  Rebasing: sellable,
  Turncoat: sellable,
  Reenters: sellable,

  SameBlockCoolDown: coolDown,
  MinutesCoolDown: coolDown,
  NoContractSellers: coolDown,
  OnlyOrigin: coolDown,
  OnlyPools: { status: 'SELLABLE', reason: 'TRANSFER_REVERTED', withinBlock: 'SELLABLE' },
  MaxTransaction: { status: 'SELLABLE', reason: 'SIZE_LIMITED', withinBlock: 'SELLABLE' },

  BuyTax: taxed(500, 0, 0),
  SellTax: taxed(0, 0, 3000),
  SmallSellTax: taxed(0, 0, 7),
  TransferTax: taxed(400, 400, 400),
  AccountTax: taxed(0, 250, 0),
  HeavySellTax: taxed(0, 0, 9900),
  AboveSizeTax: taxed(0, 0, 2000),
  RisingTax: { status: 'TAXED', withinBlock: 'SELLABLE' },
  Reflection: taxed(200, 200, 200),
  TaxOnTop: taxed(0, 0, 476),
  SparesSimulations: taxed(0, 0, 1500),

  Honeypot: unsellable('SELL_REVERTED'),
  SellBan: unsellable('SELL_REVERTED'),
  BlacklistOnBuy: unsellable('SELL_REVERTED'),
  BlacklistNextBlock: { status: 'UNSELLABLE', reason: 'SELL_REVERTED', withinBlock: 'SELLABLE' },
  Paused: unsellable('BUY_REVERTED'),
  ReturnsFalse: unsellable('SELL_REVERTED'),
  MovesNothing: unsellable('SELL_REVERTED'),
  WholeSellTax: unsellable('SELL_REVERTED'),
  GasBomb: unsellable('SELL_REVERTED'),
  ReturnBomb: unsellable('SELL_REVERTED'),
  LongYes: unsellable('SELL_REVERTED'),
  LyingBalance: unsellable('SELL_REVERTED'),
  ApproveReverts: unsellable('SELL_REVERTED'),
}

const ETHER = 10n ** 18n
const RESERVE = 1_000_000n * ETHER
const SIZES = [ETHER, 50n * ETHER] as const
const BLOCK_TIME_MS = 12_000
const WIDE = 887_200
const GAS = 30_000_000n
const ONE_X96 = 1n << 96n

/** A pool of each family, and for v4 one that has native currency in place of its wrapped one. */
const POOLS = ['amm_v2', 'amm_v3', 'amm_v3_pancake', 'amm_algebra_v1', 'amm_v4', 'native'] as const
type PoolName = (typeof POOLS)[number]

type Market = { readonly token: Address; readonly hops: Readonly<Record<PoolName, ProbeHop>> }

let anvil: Anvil
let client: Client
let native: Address
const markets = new Map<OddTokenName, Market>()

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 31_337 })
  client = connect(anvil.url)
  // Some tokens change as time passes: on this chain it does not, however long the tokens take to deploy.
  await client.setBlockTimestampInterval({ interval: 0 })
  native = await deployToken(client, { symbol: 'WETH', decimals: 18 })
  const pairs = await deployV2Factory(client)
  const families = await deployTickFamilies(client)
  const trader = await deployTrader(client)
  const mint = (token: Address) =>
    send(client, {
      to: token,
      data: encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [trader, 1n << 200n] }),
    })
  await mint(native)
  // Native currency is behind the wrapped one, as ever.
  await client.setBalance({ address: native, value: RESERVE })
  await client.setBalance({ address: trader, value: 1n << 200n })
  for (const name of ODD_TOKENS) {
    const token = await deployOddToken(client, name)
    await mint(token)
    const pair = await createV2Pair(client, pairs, [token, native])
    const pools: TickPool[] = []
    for (const of of families) {
      pools.push(await of.create([token, native], ONE_X96))
      if (of.family === 'amm_v4') pools.push(await of.create([token, zeroAddress], ONE_X96))
    }
    const holders = [pair.address, ...new Set(pools.map(({ holder }) => holder))]
    await introduce(client, token, { pools: holders, exempt: [trader] })
    const steps = pools.map(pool => {
      const end = Math.floor(WIDE / pool.tickSpacing) * pool.tickSpacing
      return pool.add(-end, end, RESERVE)
    })
    const first = trades.addV2(pair.address, RESERVE, RESERVE)
    const outcomes = await trades.batch(client, trader, [first, ...steps], GAS)
    expect(
      outcomes.every(({ ok }) => ok),
      name,
    ).toBe(true)
    const fee = { numerator: 997n, denominator: 1000n }
    const hop = { tokenIn: native, tokenOut: token } as const
    markets.set(name, {
      token,
      hops: Object.fromEntries([
        ['amm_v2', { ...hop, family: 'amm_v2', pool: pair.address, fee }],
        ...pools.map(pool => [
          pool.key?.currency0 === zeroAddress ? 'native' : pool.family,
          { ...hop, ...hopOf(pool) },
        ]),
      ]) as Market['hops'],
    })
  }
}, 600_000)

afterAll(() => anvil.close())

describe.each(POOLS)('on a pool of %s', family => {
  it.each(ODD_TOKENS)('R-sell-1, R-sell-2: %s gets the right verdict', async name => {
    const { status, taxes, reason } = WANTED[name]
    const judged = await judgementOf(marketOf(name).hops[family])
    expect(judged, JSON.stringify(judged)).toMatchObject({
      status,
      method: 'SIMULATE',
      ...(reason === undefined ? {} : { reason }),
    })
    if (taxes !== undefined) expectTaxes(judged, taxes)
  })

  it.each(ODD_TOKENS)('R-sell-2: %s is not called unsellable by one block alone', async name => {
    const { withinBlock } = WANTED[name]
    const judged = await judgementOf(marketOf(name).hops[family], withoutLater)
    expect(judged, JSON.stringify(judged)).toMatchObject({ status: withinBlock, method: 'CALL_OVERRIDE' })
  })
})

it.each(POOLS)(
  'R-sell-5: finds what an owner changed when it probes again, on a pool of %s',
  async family => {
    const { token, hops } = marketOf('Turncoat')
    await turn(client, token)
    expect(await judgementOf(hops[family])).toMatchObject({ status: 'UNSELLABLE', reason: 'SELL_REVERTED' })
    await turn(client, token)
    expect(await judgementOf(hops[family])).toMatchObject({ status: 'SELLABLE' })
  },
)

describe.each(POOLS)('over a pool of %s', family => {
  it('reaches a token that trades against another one', async () => {
    const { hops, token } = marketOf('Plain')
    const there = hops[family]
    const back = { ...hops.amm_v3, tokenIn: token, tokenOut: native }
    const sold = marketOf('SellTax').hops
    expect(await judgementOf(sold.amm_v3, ask, [there, back, sold[family]])).toMatchObject({
      status: 'TAXED',
      sellTaxBps: 3000,
    })
    const out = [hops.amm_v2, { ...there, tokenIn: token, tokenOut: native }, sold.amm_v2]
    expect(await judgementOf(sold.amm_v3, ask, out)).toMatchObject({ status: 'TAXED', sellTaxBps: 3000 })
  })
})

it('reports nothing about a token that it cannot reach', async () => {
  const { hops } = marketOf('Plain')
  const paused = marketOf('Paused')
  expect(
    await judgementOf(hops.amm_v3, ask, [paused.hops.amm_v2, { ...hops.amm_v2, tokenIn: paused.token }]),
  ).toMatchObject({
    status: 'UNKNOWN',
    reason: 'NO_PATH',
  })
})

it('R-sell-1: trades with pools of every family', () => {
  expect(FAMILIES.filter(family => probeFamily(family) === null)).toEqual([])
})

it('reports that a node executed nothing', async () => {
  const none: Ask = () => Promise.reject(new Error('method not found'))
  expect(await judgementOf(marketOf('Plain').hops.amm_v2, none)).toMatchObject({
    status: 'UNKNOWN',
    reason: 'NO_OVERRIDES',
    method: null,
  })
})

const ask: Ask = (method, params) => client.request({ method, params } as never)

const withoutLater: Ask = (method, params) =>
  method === 'eth_call' ? ask(method, params) : Promise.reject(new Error('method not found'))

async function judgementOf(
  hop: ProbeHop,
  asked: Ask = ask,
  hops: readonly ProbeHop[] = [hop],
): Promise<Judgement> {
  const { hash, number, timestamp } = await client.getBlock()
  return probe(
    {
      plan: { wrapped: native, hops },
      sizes: SIZES,
      block: { number: Number(number), hash, timeMs: Number(timestamp) * 1000 },
      blockTimeMs: BLOCK_TIME_MS,
      gasPriceWei: 2_000_000_000n,
    },
    asked,
    () => true,
  )
}

function hopOf({ family, holder, key }: TickPool): Pick<ProbeHop, 'family' | 'pool' | 'fee' | 'key'> {
  const hop = { family, pool: holder, fee: null }
  if (key === null) return hop
  const { fee, tickSpacing, hooks, currency0 } = key
  return { ...hop, key: { fee, tickSpacing, hooks, native: currency0 === zeroAddress ? native : null } }
}

function marketOf(name: OddTokenName): Market {
  const market = markets.get(name)
  if (market === undefined) throw new Error(`${name} has no market`)
  return market
}

function expectTaxes(judged: Judgement, [buy, transfer, sell]: NonNullable<Wanted['taxes']>): void {
  const near = (found: number | null, wanted: number | null, what: string) => {
    if (wanted === null || found === null) expect(found, what).toBe(wanted)
    else expect(Math.abs(found - wanted), `${what}: ${found}, wanted ${wanted}`).toBeLessThanOrEqual(1)
  }
  near(judged.buyTaxBps, buy, 'buy')
  near(judged.transferTaxBps, transfer, 'transfer')
  near(judged.sellTaxBps, sell, 'sell')
}
