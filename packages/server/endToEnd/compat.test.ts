/**
 * Answers in other services' shapes, by those services' own clients in a process of their own: CoinGecko's with nothing
 * but `COINGECKO_BASE_URL` set, DefiLlama's with its fixed host redirected here. Their results equal the API's.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { CompactState } from '@assay/sdk/wire'
import { AnyQuote } from '@assay/sdk/wire'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { conformance } from '../../sdk/testing/conformance.ts'
import { ask, type Answer } from './testing/answer.ts'
import { frugalKey } from './testing/frugal.ts'
import { CHAIN_ID, planWith, THIN } from './testing/plan.ts'
import { roomyClient } from './testing/roomy.ts'
import { chain, serveChain, service } from './testing/servedChain.ts'
import type { Hex } from './testing/testChain.ts'
import type { VendorJob, VendorOutcome } from './testing/vendorClient.ts'

const DRIVER = fileURLToPath(new URL('testing/vendorClient.ts', import.meta.url))
const STRANGER: Hex = `0x${'d7'.repeat(20)}`

let key: string
serveChain(planWith(THIN), {
  tokens: ['LARK', 'MOTH', 'THIN'],
  compat: { listen: { host: '127.0.0.1', port: 0 } },
})
beforeAll(async () => {
  await roomyClient(service)
  key = await service.key(['read'], 'roomy')
})
beforeEach(() => service.untilWell())

const stateOf = async (symbol: string): Promise<Extract<CompactState, { state: 'PRICED' }>> => {
  const row = await service.store.readToken(CHAIN_ID, chain.token(symbol))
  return JSON.parse(row?.price ?? '') as Extract<CompactState, { state: 'PRICED' }>
}
const displayOf = async (symbol: string): Promise<string> => (await stateOf(symbol)).price_usd.display
/** 18 digits are more than a double holds, and the nearest to them is the nearest to the value but in one of some thousand cases. */
const numberOf = async (symbol: string): Promise<number> => {
  const { numerator, denominator } = (await stateOf(symbol)).price_usd
  return Number(`${(BigInt(numerator) * 10n ** 60n) / BigInt(denominator)}e-60`)
}

async function run(
  job: VendorJob,
  environment: Record<string, string> = {},
): Promise<readonly VendorOutcome[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [DRIVER, JSON.stringify(job)], {
    env: { ...process.env, ...environment },
    timeout: 180_000,
  })
  return JSON.parse(stdout) as VendorOutcome[]
}
type Calls = readonly (readonly [method: string, ...args: readonly unknown[]])[]
const callsOf = (calls: Calls) => calls.map(([method, ...args]) => ({ method, args }))
/** What a user of CoinGecko's client has: a base address and a key, in the environment. */
const coinGecko = (base: string, calls: Calls, given = key) =>
  run(
    { client: 'coingecko', calls: callsOf(calls) },
    { COINGECKO_BASE_URL: base, COINGECKO_PRO_API_KEY: given },
  )
const defiLlama = (calls: Calls) =>
  run({ client: 'defillama', base: `${service.url}/compat/defillama`, key, calls: callsOf(calls) })
const valueOf = (outcome: VendorOutcome | undefined): unknown => {
  if (outcome === undefined || 'error' in outcome) throw new Error(JSON.stringify(outcome))
  return outcome.value
}

describe('CoinGecko’s client', () => {
  const bases = () => [
    `${service.url}/compat/coingecko`,
    service.service.compatUrl ?? '',
    `${service.service.compatUrl}/api/v3`,
  ]

  it('reads prices of a network, below the prefix and at the root of the second port', async () => {
    const addresses = ['LARK', 'MOTH', 'THIN', 'USDC'].map(symbol => chain.token(symbol))
    const flags = {
      network: 'eth',
      include_24hr_price_change: true,
      include_total_reserve_in_usd: true,
      include_24hr_vol: true,
      include_market_cap: true,
    }
    for (const base of bases()) {
      const [outcome] = await coinGecko(base, [
        ['onchain.simple.networks.tokenPrice.getAddresses', [...addresses, 'nonsense'].join(','), flags],
      ])
      expect(outcome).toMatchObject({ reason: expect.stringContaining(`${chain.token('THIN')}=NO_ROUTE`) })
      expect(outcome).toMatchObject({ reason: expect.stringContaining('nonsense=INVALID_ADDRESS') })
      const { data } = valueOf(outcome) as { data: { type: string; attributes: Record<string, object> } }
      expect(data.type).toBe('simple_token_price')
      expect(data.attributes['token_prices']).toEqual({
        [chain.token('LARK')]: await displayOf('LARK'),
        [chain.token('MOTH')]: await displayOf('MOTH'),
        [chain.token('USDC')]: '1',
      })
      // Nothing of it has been followed for a day, and only pools of full range tell what they hold.
      expect(data.attributes).toMatchObject({
        h24_price_change_percentage: {},
        h24_volume_usd: {},
        market_cap_usd: {},
      })
      expect(Object.keys(data.attributes['total_reserve_in_usd'] ?? {})).toEqual([chain.token('MOTH')])
    }
  })

  it('reads prices of a platform as the nearest doubles', async () => {
    const contract_addresses = [chain.token('LARK'), chain.token('THIN')].join(',')
    const query = { contract_addresses, vs_currencies: 'usd', include_last_updated_at: true }
    const [full, rounded] = await coinGecko(`${service.url}/compat/coingecko`, [
      ['simple.tokenPrice.getID', 'ethereum', query],
      ['simple.tokenPrice.getID', 'ethereum', { ...query, precision: '3' }],
    ])
    const { evaluated_at_ms } = await stateOf('LARK')
    expect(valueOf(full)).toEqual({
      [chain.token('LARK')]: {
        usd: await numberOf('LARK'),
        last_updated_at: Math.floor(evaluated_at_ms / 1000),
      },
    })
    expect(valueOf(rounded)).toMatchObject({
      [chain.token('LARK')]: { usd: Number((await numberOf('LARK')).toFixed(3)) },
    })
  })

  it('reads every other endpoint that is claimed', async () => {
    const [lark, pool, ranged] = [
      chain.token('LARK'),
      chain.pool('uniswap-v2', 'USDC', 'LARK'),
      chain.pool('uniswap-v3', 'WETH', 'LARK'),
    ]
    const network = 'eth'
    const calls: Calls = [
      ['ping.get'],
      ['assetPlatforms.get'],
      ['simple.supportedVsCurrencies.get'],
      ['onchain.networks.get'],
      ['onchain.networks.dexes.get', network],
      ['onchain.networks.tokens.getAddress', lark, { network }],
      ['onchain.networks.tokens.multi.getAddresses', [lark, chain.token('THIN')].join(','), { network }],
      ['onchain.networks.pools.getAddress', pool, { network }],
      ['onchain.networks.pools.multi.getAddresses', `${pool},${ranged}`, { network }],
      ['onchain.networks.tokens.pools.get', lark, { network }],
      ['onchain.search.pools.get', { query: 'LARK', network }],
      [
        'onchain.networks.pools.ohlcv.getTimeframe',
        'minute',
        { network, pool_address: pool, aggregate: '5' },
      ],
      ['onchain.networks.tokens.ohlcv.getTimeframe', 'hour', { network, token_address: lark }],
    ]
    const outcomes = await coinGecko(`${service.url}/compat/coingecko`, calls)
    const [
      ping,
      platforms,
      currencies,
      networks,
      dexes,
      one,
      several,
      item,
      items,
      pools,
      found,
      candles,
      hours,
    ] = outcomes.map(valueOf) as { data: { attributes: Record<string, unknown> } }[] & unknown[]
    expect(ping).toHaveProperty('gecko_says')
    expect(platforms).toMatchObject([{ id: 'ethereum', chain_identifier: CHAIN_ID }])
    expect(currencies).toEqual(['usd'])
    expect(networks).toMatchObject({ data: [{ id: 'eth', type: 'network' }] })
    expect(dexes).toMatchObject({ data: [{ id: 'uniswap-v3' }, { id: 'uniswap-v2' }, { id: 'v2-two' }] })
    const price = await displayOf('LARK')
    expect(one).toMatchObject({
      data: { attributes: { symbol: 'LARK', decimals: 18, price_usd: price, market_cap_usd: null } },
    })
    expect(several).toMatchObject({
      data: [{ attributes: { price_usd: price } }, { attributes: { price_usd: null } }],
    })
    expect(item).toMatchObject({
      data: {
        id: `eth_${pool}`,
        attributes: { base_token_price_usd: price, quote_token_price_usd: '1', name: 'LARK / USDC 0.3%' },
      },
    })
    expect(items).toMatchObject({
      data: [{ attributes: { address: pool } }, { attributes: { address: ranged, reserve_in_usd: null } }],
    })
    expect(pools).toMatchObject({ data: [{}, {}] })
    expect(found).toEqual(pools)
    const number = await numberOf('LARK')
    for (const answer of [candles, hours]) {
      const bars = answer?.data.attributes['ohlcv_list'] as (number | null)[][]
      const [bar = []] = bars.filter(each => each[1] === number)
      expect(bar.slice(0, 5)).toEqual([expect.any(Number), number, number, number, number])
      // Nothing was traded: unknown in a bar that began before the chain was followed, 0 in a later one.
      expect([null, 0]).toContain(bar[5])
    }
  })

  it('adds both sides of a pool’s reserves at their prices', async () => {
    const pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    const [outcome] = await coinGecko(`${service.url}/compat/coingecko`, [
      ['onchain.networks.pools.getAddress', pool, { network: 'eth' }],
    ])
    const { reserve0, reserve1 } = await chain.reserves(pool)
    const [usdt, moth] =
      chain.token('USDT') < chain.token('MOTH') ? [reserve0, reserve1] : [reserve1, reserve0]
    const { numerator, denominator } = (await stateOf('MOTH')).price_usd
    const micro =
      BigInt(usdt) + (BigInt(moth) * BigInt(numerator) * 1_000_000n) / (BigInt(denominator) * 10n ** 18n)
    const { data } = valueOf(outcome) as { data: { attributes: { reserve_in_usd: string } } }
    expect(data.attributes.reserve_in_usd).toContain(`${micro / 1_000_000n}.`)
  })

  it('understands refusals: no key, too many requests, and paths that are not served', async () => {
    const base = `${service.url}/compat/coingecko`
    const [unkeyed] = await coinGecko(base, [['ping.get']], 'CG-nonsense')
    expect(unkeyed).toMatchObject({ error: 'AuthenticationError', status: 401 })
    const frugal = await frugalKey(service, 1)
    const spent = await coinGecko(base, [['ping.get'], ['ping.get']], frugal)
    expect(spent[1]).toMatchObject({ error: 'RateLimitError', status: 429 })
    const missing = await coinGecko(base, [
      ['coins.list.get'],
      ['onchain.networks.trendingPools.get'],
      ['onchain.networks.tokens.getAddress', chain.token('LARK'), { network: 'solana' }],
      [
        'onchain.networks.pools.ohlcv.getTimeframe',
        'second',
        { network: 'eth', pool_address: chain.pool('uniswap-v2', 'USDC', 'LARK') },
      ],
    ])
    expect(missing).toMatchObject([
      { error: 'NotFoundError', status: 404 },
      { error: 'NotFoundError', status: 404 },
      { error: 'NotFoundError', message: expect.stringContaining('served are eth') },
      { error: 'BadRequestError', message: expect.stringContaining('timeframe must be') },
    ])
  })
})

describe('DefiLlama’s client', () => {
  const idOf = (symbol: string): string => `ethereum:${chain.token(symbol)}`

  it('reads current prices: score times ten as confidence, and nothing for a token without a price', async () => {
    const upper = `ethereum:${chain.token('MOTH').toUpperCase().replace('0X', '0x')}`
    const ids = [
      idOf('LARK'),
      upper,
      idOf('THIN'),
      'coingecko:bitcoin',
      `base:${chain.token('LARK')}`,
      `ethereum:0x${'0'.repeat(40)}`,
    ]
    const [outcome] = await defiLlama([['prices.getCurrentPrices', ids]])
    const { coins } = valueOf(outcome) as { coins: Record<string, object> }
    expect(Object.keys(coins)).toEqual([idOf('LARK'), upper, `ethereum:0x${'0'.repeat(40)}`])
    const { confidence, evaluated_at_ms } = await stateOf('LARK')
    expect(coins[idOf('LARK')]).toEqual({
      decimals: 18,
      symbol: 'LARK',
      price: await numberOf('LARK'),
      timestamp: Math.floor(evaluated_at_ms / 1000),
      confidence: confidence.score / 10,
    })
    expect(coins[`ethereum:0x${'0'.repeat(40)}`]).toMatchObject({
      symbol: 'WETH',
      price: await numberOf('WETH'),
    })
    expect(outcome).toMatchObject({ reason: expect.stringContaining(`${idOf('THIN')}=NO_ROUTE`) })
    expect(outcome).toMatchObject({ reason: expect.stringContaining('coingecko:bitcoin=UNSUPPORTED_CHAIN') })
  })

  it('reads the past as far back as the log reaches, and nothing before', async () => {
    const { evaluated_at_ms } = await stateOf('MOTH')
    const at = Math.ceil(evaluated_at_ms / 1000)
    const first = (
      await service.store.readTokenPoints({
        chainId: CHAIN_ID,
        tokenAddress: chain.token('MOTH'),
        fromMs: 0,
        toMs: Number.MAX_SAFE_INTEGER,
        after: null,
        limit: 1,
      })
    )[0]
    // The client asks about seconds that are over.
    await service.untilTip(await chain.mineNow())
    const id = idOf('MOTH')
    const [held, before, batch, chart, begun, block, nothing] = await defiLlama([
      ['prices.getHistoricalPrices', at, [id]],
      ['prices.getHistoricalPrices', at - 86_400, [id]],
      ['prices.getBatchHistoricalPrices', { [id]: [at, at - 86_400] }],
      ['prices.getChart', [id], { end: at, span: 3, period: '1d' }],
      ['prices.getFirstPrices', [id]],
      ['prices.getBlockAtTimestamp', 'ethereum', at],
      ['prices.getBlockAtTimestamp', 'ethereum', 1_500_000_000],
    ])
    const price = await numberOf('MOTH')
    expect(valueOf(held)).toMatchObject({ coins: { [id]: { price } } })
    expect([valueOf(before), before]).toMatchObject([{ coins: {} }, { reason: `${id}=NO_HISTORY` }])
    expect(valueOf(batch)).toMatchObject({ coins: { [id]: { symbol: 'MOTH', prices: [{ price }] } } })
    expect(valueOf(chart)).toMatchObject({ coins: { [id]: { prices: [{ timestamp: at, price }] } } })
    expect(valueOf(begun)).toMatchObject({
      coins: { [id]: { timestamp: Math.floor((first?.atMs ?? 0) / 1000) } },
    })
    const { height, timestamp } = valueOf(block) as { height: number; timestamp: number }
    const real = await chain.world.client.getBlock({ blockNumber: BigInt(height) })
    expect([Number(real.timestamp), timestamp <= at]).toEqual([timestamp, true])
    expect(nothing).toMatchObject({ error: 'NotFoundError' })
  })
})

describe('with the feed down', () => {
  it('no response has a price: it does not outlive its feed here either', async () => {
    const gone = { 'x-cg-pro-api-key': key }
    await service.client(['admin']).then(client => client.admin.pauseChain({ chain_id: CHAIN_ID }))
    await service.untilSeen()
    const lark = chain.token('LARK')
    const answers: Answer[] = [
      await ask(
        `${service.url}/compat/coingecko/simple/token_price/ethereum?contract_addresses=${lark}&vs_currencies=usd`,
        { headers: gone },
      ),
      await ask(`${service.url}/compat/defillama/prices/current/ethereum:${lark}`, { headers: gone }),
    ]
    expect(answers.map(({ body }) => body)).toEqual([{}, { coins: {} }])
    expect(answers.map(({ headers }) => headers.get('x-assay-reason'))).toEqual([
      expect.stringMatching(`^${lark}=(FEED|OPERATOR)$`),
      expect.stringMatching(`^ethereum:${lark}=(FEED|OPERATOR)$`),
    ])
    await service.client(['admin']).then(client => client.admin.resumeChain({ chain_id: CHAIN_ID }))
    await service.untilWell()
  })
})

describe('the compact view', () => {
  it('of every quote is below 2 kB, fits its schema, and agrees with the full one', async () => {
    const faultsOf = conformance(AnyQuote)
    const tokens = await service.store.readTokens({ chainId: CHAIN_ID, after: null, limit: 100 })
    expect(tokens.length).toBeGreaterThan(5)
    for (const { tokenAddress } of tokens.filter(({ price }) => price !== null)) {
      const path = `${service.url}/v1/quote/token/${CHAIN_ID}/${tokenAddress}`
      const compact = await ask(`${path}?view=compact`, { key })
      const full = await ask(path, { key })
      expect([compact.status, faultsOf(compact.body)]).toEqual([200, []])
      expect(Buffer.byteLength(compact.text)).toBeLessThan(2000)
      const { confidence, ...said } = compact.body as { confidence?: object }
      expect(full.body).toMatchObject(said)
      if (confidence !== undefined) expect(full.body).toMatchObject({ confidence })
      const tag = compact.headers.get('etag') ?? ''
      expect(tag).not.toBe(full.headers.get('etag'))
      expect((await ask(`${path}?view=compact`, { key, headers: { 'if-none-match': tag } })).status).toBe(304)
    }
  })

  it('of a computed quote is the same, and an unknown view is refused', async () => {
    const path = `${service.url}/v1/quote/token/${CHAIN_ID}/${chain.token('LARK')}`
    const computed = await ask(`${path}?view=compact&max_hops=2`, { key })
    expect(computed.body).toMatchObject({ state: 'PRICED', source: 'COMPUTED' })
    expect(computed.body).not.toHaveProperty('routes')
    expect((await ask(`${path}?view=short`, { key })).body).toMatchObject({ code: 'INVALID_PARAMS' })
    expect(
      (await ask(`${service.url}/v1/quote/token/${CHAIN_ID}/${STRANGER}?view=compact`, { key })).status,
    ).toBe(202)
  })
})
