/**
 * The probe on tokens that behave oddly, on a v2 pair and a v3 pool of each: every trap that code and state decide is
 * flagged, nothing honest is called unsellable, and taxes are right to a basis point.
 */
import { type Ask, type Judgement, probe, type ProbeHop, type SellabilityStatus } from '@assay/sdk/probe'
import {
  type Anvil,
  type Client,
  connect,
  createV2Pair,
  createV3Pool,
  deployOddToken,
  deployToken,
  deployTrader,
  deployV2Factory,
  deployV3Factory,
  initialiseV3Pool,
  introduce,
  ODD_TOKENS,
  type OddTokenName,
  send,
  startAnvil,
  testTokenAbi,
  trader as trades,
  turn,
} from '@assay/world'
import { type Address, encodeFunctionData } from 'viem'
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
const FEE_PPM = 3000
const GAS = 30_000_000n
const ONE_X96 = 1n << 96n

type Market = { readonly token: Address; readonly v2: ProbeHop; readonly v3: ProbeHop }

let anvil: Anvil
let client: Client
let native: Address
const markets = new Map<OddTokenName, Market>()

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 31_337 })
  client = connect(anvil.url)
  native = await deployToken(client, { symbol: 'WETH', decimals: 18 })
  const [v2, v3, trader] = [
    await deployV2Factory(client),
    await deployV3Factory(client),
    await deployTrader(client),
  ]
  const mint = (token: Address) =>
    send(client, {
      to: token,
      data: encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [trader, 1n << 200n] }),
    })
  await mint(native)
  // Native currency stands behind the wrapped one, as ever.
  await client.setBalance({ address: native, value: RESERVE })
  for (const name of ODD_TOKENS) {
    const token = await deployOddToken(client, name)
    await mint(token)
    const pair = await createV2Pair(client, v2, [token, native])
    const pool = await createV3Pool(client, v3, [token, native], FEE_PPM)
    await initialiseV3Pool(client, pool, ONE_X96)
    await introduce(client, token, { pools: [pair.address, pool.address], exempt: [trader] })
    const steps = [
      trades.addV2(pair.address, RESERVE, RESERVE),
      trades.mintV3(pool.address, -887_220, 887_220, RESERVE),
    ]
    const outcomes = await trades.batch(client, trader, steps, GAS)
    expect(
      outcomes.every(({ ok }) => ok),
      name,
    ).toBe(true)
    const hop = { tokenIn: native, tokenOut: token } as const
    markets.set(name, {
      token,
      v2: {
        ...hop,
        family: 'amm_v2',
        pool: pair.address,
        fee: { numerator: 997n, denominator: 1000n },
      },
      v3: { ...hop, family: 'amm_v3', pool: pool.address, fee: null },
    })
  }
}, 180_000)

afterAll(() => anvil.close())

describe.each(['v2', 'v3'] as const)('on %s', family => {
  it.each(ODD_TOKENS)('R-sell-1, R-sell-2: %s is what it is', async name => {
    const { status, taxes, reason } = WANTED[name]
    const judged = await judgementOf(marketOf(name)[family])
    expect(judged, JSON.stringify(judged)).toMatchObject({
      status,
      method: 'SIMULATE',
      ...(reason === undefined ? {} : { reason }),
    })
    if (taxes !== undefined) expectTaxes(judged, taxes)
  })

  it.each(ODD_TOKENS)('R-sell-2: %s is not called unsellable by one block alone', async name => {
    const { withinBlock } = WANTED[name]
    const judged = await judgementOf(marketOf(name)[family], withoutLater)
    expect(judged, JSON.stringify(judged)).toMatchObject({ status: withinBlock, method: 'CALL_OVERRIDE' })
  })
})

it('is told by the first failing evidence what an owner does later', async () => {
  const { token, v2 } = marketOf('Turncoat')
  await turn(client, token)
  expect(await judgementOf(v2)).toMatchObject({ status: 'UNSELLABLE', reason: 'SELL_REVERTED' })
  await turn(client, token)
  expect(await judgementOf(v2)).toMatchObject({ status: 'SELLABLE' })
})

it('reaches a token that trades against another one over the pool of that', async () => {
  const { v2, v3, token } = marketOf('Plain')
  const sellTax = marketOf('SellTax')
  expect(
    await judgementOf(sellTax.v3, ask, [v2, { ...v3, tokenIn: token, tokenOut: native }, sellTax.v2]),
  ).toMatchObject({
    status: 'TAXED',
    sellTaxBps: 3000,
  })
})

it('says nothing of a token that it cannot reach', async () => {
  const { v2, v3 } = marketOf('Plain')
  const paused = marketOf('Paused')
  expect(await judgementOf(v3, ask, [paused.v2, { ...v2, tokenIn: paused.token }])).toMatchObject({
    status: 'UNKNOWN',
    reason: 'NO_PATH',
  })
})

it('says that a node ran nothing', async () => {
  const none: Ask = () => Promise.reject(new Error('method not found'))
  expect(await judgementOf(marketOf('Plain').v2, none)).toMatchObject({
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
