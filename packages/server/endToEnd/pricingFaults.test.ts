/**
 * Pricing inputs that are wrong, extreme or hostile, on a real chain with real pools, as a client of the service sees
 * them. The rules behind them have their own tests in the engine, by the same row ids.
 */
import type { Envelope, EvaluatedQuote, PricedQuote } from '@assay/sdk'
import { priceFeedAbi, send, testTokenAbi, trader } from '@assay/world'
import { encodeFunctionData } from 'viem'
import { expect, test } from 'vitest'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { idOf } from './testing/record.ts'
import { chain, client, serveChain, service } from './testing/servedChain.ts'
import type { Hex } from './testing/testChain.ts'

const ODD = ['REVERTS', 'SILENT', 'SEVENTY', 'ENDLESS'] as const
const NEW = [...ODD, 'PROXY', 'HUGE', 'JUMPY', 'ZERO', 'WIDE'] as const

const TOKENS = NEW.map((symbol, n) =>
  symbol === 'ZERO'
    ? token(0x50 + n, symbol, 0.000_002, 0)
    : // A pair holds less than 2^112 units: with 36 decimals that is little of anything.
      symbol === 'WIDE'
      ? token(0x50 + n, symbol, 1_000_000_000, 36)
      : token(0x50 + n, symbol, 2),
)
const POOLS = NEW.map(symbol => ({
  deployment: 'uniswap-v2',
  pair: ['USDC', symbol] as [string, string],
  usd: 600_000,
}))

serveChain(planWith({ tokens: TOKENS, pools: POOLS }), async () => {
  for (const [symbol, code] of Object.entries(CODES))
    await chain.rpc('anvil_setCode', chain.token(symbol), code)
  await chain.mine()
  return { tokens: ['LARK', 'MOTH', 'PROXY', 'JUMPY', 'ZERO', 'WIDE'] }
})

/** Answers 1 to everything but decimals(), where `variant` runs. */
const oddToken = (variant: string): Hex => `0x60003560e01c63313ce56714601957600160005260206000f35b${variant}`
const word = (value: bigint): string => `7f${value.toString(16).padStart(64, '0')}60005260206000f3`
const CODES: Readonly<Record<(typeof ODD)[number], Hex>> = {
  REVERTS: oddToken('60006000fd'),
  SILENT: oddToken('00'),
  SEVENTY: oddToken(word(77n)),
  ENDLESS: oddToken(word(2n ** 256n - 1n)),
}

/** Asked for if it has to be, then read from the store: waiting costs no quota. */
async function evaluated(symbol: string): Promise<EvaluatedQuote> {
  const address = chain.token(symbol)
  const stored = await service.store.readQuote(CHAIN_ID, address)
  if (stored === null) await client.quoteToken({ chain_id: CHAIN_ID, token_address: address })
  const { quote } = await chain.untilMining(`${symbol} evaluated`, () =>
    service.store.readQuote(CHAIN_ID, address),
  )
  return JSON.parse(quote) as EvaluatedQuote
}

async function priced(symbol: string): Promise<PricedQuote> {
  const quote = await evaluated(symbol)
  if (quote.state !== 'PRICED') throw new Error(`${symbol}: ${JSON.stringify(quote).slice(0, 300)}`)
  return quote
}

/** The newest state of the token that meets the condition, while blocks continue. */
const untilQuote = (symbol: string, what: string, is: (quote: EvaluatedQuote) => boolean) =>
  chain.untilMining(`${symbol} ${what}`, async () => {
    const quote = await evaluated(symbol)
    return is(quote) ? quote : null
  })

const usd = ({ price_usd }: PricedQuote): number => Number(price_usd.display)
const capsOf = (quote: EvaluatedQuote): string[] =>
  quote.state === 'PRICED' ? quote.confidence.caps.map(({ code }) => code) : []

test.each([
  ['REVERTS', 'decimals() reverts'],
  ['SILENT', 'decimals() returns nothing'],
  ['SEVENTY', 'decimals() is 77'],
  ['ENDLESS', 'decimals() is 11579208923731619542357098500868790785326998466564056403945758400791312963993'],
])('P1: %s: %s, so the token is UNPRICED with the reason', async symbol => {
  const quote = await evaluated(symbol)
  expect(quote).toMatchObject({ state: 'UNPRICED', reason: 'DECIMALS' })
})

test('P1: 0 and 36 decimals are valid', async () => {
  expect(usd(await priced('ZERO')) / 0.000_002).toBeCloseTo(1, 1)
  expect(usd(await priced('WIDE')) / 1_000_000_000).toBeCloseTo(1, 1)
})

test('P1: decimals that change behind a proxy withdraw the price before anything is scaled by them', async () => {
  const before = await priced('PROXY')
  const at = { chain_id: CHAIN_ID, token_address: chain.token('PROXY') }
  const { admin } = await service.client(['admin'])
  await expect(admin.confirmDecimals(at, { decimals: 15 })).rejects.toMatchObject({ status: 404 })
  const after = await service.head()
  const data = encodeFunctionData({ abi: testTokenAbi, functionName: 'setDecimals', args: [15] })
  await send(chain.world.client, { to: chain.token('PROXY'), data })
  const id = idOf(chain.token('PROXY'))
  const own = (record: Envelope) =>
    (record.type === 'PRICE_UPSERT' || record.type === 'PRICE_RETRACT') &&
    record.payload.scope === 'token' &&
    record.payload.token_id === id
  // No event reports it: it is found when the token is next audited, once a minute.
  const retracted = await chain.untilMining('the price taken back', async () =>
    (await service.records(after)).filter(own).find(({ type }) => type === 'PRICE_RETRACT'),
  )
  expect(retracted.payload).toMatchObject({ reason: 'DECIMALS', current: { state: 'UNPRICED' } })
  const untilThen = (await service.records(after)).filter(own)
  for (const { type, payload } of untilThen.slice(
    0,
    untilThen.findIndex(each => each.type === 'PRICE_RETRACT'),
  ))
    if (type === 'PRICE_UPSERT' && payload.scope === 'token' && payload.state === 'PRICED')
      expect(Number(payload.price_usd.display) / usd(before)).toBeCloseTo(1, 1)
  await expect(admin.confirmDecimals(at, { decimals: 6 })).rejects.toMatchObject({ status: 409 })
  expect(await evaluated('PROXY')).toMatchObject({ state: 'UNPRICED', reason: 'DECIMALS' })
  // A changed reading counts half an hour of blocks later, or as soon as an operator confirms it.
  await admin.confirmDecimals(at, { decimals: 15 })
  const again = await priced('PROXY')
  expect(usd(again) / (usd(before) / 1000)).toBeCloseTo(1, 1)
  // It is a thousandth of what it was, for every reader.
  expect(capsOf(again)).toContain('MAGNITUDE_JUMP')
  expect((await admin.fetchAudit({ limit: 1 })).entries).toMatchObject([
    { action: 'token.decimals', detail: '{"decimals":15}' },
  ])
})

test('P3: reserves of 1 wei and 2^112 − 1 give a price or a reason, and stop nothing', async () => {
  const pair = await chain.createV2('v2-two', 'USDC', 'HUGE')
  const most = 2n ** 112n - 1n
  await chain.run(
    trader.addV2(
      pair,
      chain.token('USDC') < chain.token('HUGE') ? 1n : most,
      chain.token('USDC') < chain.token('HUGE') ? most : 1n,
    ),
  )
  const { reserve0, reserve1 } = await chain.reserves(pair)
  expect([reserve0, reserve1].sort()).toEqual(['1', most.toString()].sort())
  const quote = await evaluated('HUGE')
  // The sound pool of the same token still prices it.
  expect(quote.state).toBe('PRICED')
  const pool = await chain.untilMining('the extreme pool known', () =>
    service.store.readPool(CHAIN_ID, pair).then(row => row?.state),
  )
  expect(JSON.parse(pool)).toMatchObject({ reserves: { reserve0, reserve1 } })
  expect(service.faults).toEqual([])
})

test('P7: a pool of 100 dollars that quotes a million times the price is excluded, with its reason', async () => {
  const before = usd(await priced('LARK'))
  const pair = await chain.createV2('v2-two', 'USDC', 'LARK')
  const [dollars, larks] = [chain.units('USDC', 50), chain.units('LARK', 50) / 1_000_000n]
  await chain.run(
    chain.token('USDC') < chain.token('LARK')
      ? trader.addV2(pair, dollars, larks)
      : trader.addV2(pair, larks, dollars),
  )
  const routeOver = (quote: EvaluatedQuote) =>
    quote.state === 'PRICED'
      ? quote.routes.find(({ hops }) => hops.some(hop => hop.pool_address === pair))
      : undefined
  await service.untilTip(await chain.mine())
  // What is left out changes no published state: the whole quote is computed for the asker.
  const path = { chain_id: CHAIN_ID, token_address: chain.token('LARK'), max_hops: 3 }
  const quote = (await (await service.client()).quoteToken(path)) as PricedQuote
  expect(routeOver(quote)).toMatchObject({ accepted: false, reason: 'BELOW_MIN_DEPTH' })
  expect(usd(quote) / before).toBeCloseTo(1, 1)
})

test('P8: a stable at 0.97 is not valued at a dollar, and at 0.87 nothing depends on it', async () => {
  const before = usd(await priced('MOTH'))
  await chain.world.life.answer('USDT', 0.97)
  const depegged = (await untilQuote('MOTH', 'depegged', quote =>
    capsOf(quote).includes('STABLE_DEPEG'),
  )) as PricedQuote
  expect(usd(depegged) / (before * 0.97)).toBeCloseTo(1, 3)
  expect(depegged.confidence.score).toBeLessThanOrEqual(3)
  await chain.world.life.answer('USDT', 0.87)
  const suspended = await untilQuote('MOTH', 'suspended', quote => quote.state === 'UNPRICED')
  expect(suspended).toMatchObject({ reason: 'STABLE_SUSPENDED' })
  await chain.world.life.answer('USDT', 1)
  await untilQuote(
    'MOTH',
    'back',
    quote => quote.state === 'PRICED' && !capsOf(quote).includes('STABLE_DEPEG'),
  )
})

test('P11: a feed that froze while blocks continue is stale by the age of its own answer', async () => {
  const feed = chain.world.seeded.feeds['USDT'] as Hex
  const answer = (secondsAgo: number) =>
    send(chain.world.client, {
      to: feed,
      data: encodeFunctionData({
        abi: priceFeedAbi,
        functionName: 'setAnswer',
        args: [100_000_000n, BigInt(Math.floor(Date.now() / 1000) - secondsAgo)],
      }),
    })
  // Heartbeat and grace of the test chain's feeds are 3600 and 600 s.
  await answer(4300)
  const stale = (await untilQuote('MOTH', 'stale', quote =>
    capsOf(quote).includes('STABLE_STALE'),
  )) as PricedQuote
  expect(stale.confidence.score).toBeLessThanOrEqual(4)
  await answer(0)
  await untilQuote(
    'MOTH',
    'fresh again',
    quote => quote.state === 'PRICED' && !capsOf(quote).includes('STABLE_STALE'),
  )
})

test('P10: a price that jumps by orders of magnitude is flagged and not replaced', async () => {
  const before = usd(await priced('JUMPY'))
  const pool = chain.pool('uniswap-v2', 'USDC', 'JUMPY')
  await chain.run(chain.sellV2(pool, 'JUMPY', 300_000 * 20))
  const jumped = (await untilQuote('JUMPY', 'flagged', quote =>
    capsOf(quote).includes('MAGNITUDE_JUMP'),
  )) as PricedQuote
  expect(jumped.confidence.score).toBeLessThanOrEqual(1)
  expect(usd(jumped)).toBeLessThan(before / 100)
})

test('P4: a token is identified with its chain: the address alone finds nothing on another one', async () => {
  const answer = await fetch(`${service.url}/v1/quote/token/56/${chain.token('LARK')}`, {
    headers: { authorization: `Bearer ${await service.key()}` },
  })
  expect(answer.status).toBe(404)
  expect(await answer.json()).toMatchObject({ code: 'UNSUPPORTED_CHAIN' })
})
