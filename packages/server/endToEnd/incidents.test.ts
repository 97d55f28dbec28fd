import type { Envelope, Health, PricedQuote, TokenQuote } from '@assay/sdk'
import { causeIncident, INCIDENTS, type IncidentWish } from '@assay/world'
import { beforeAll, describe, expect, it } from 'vitest'
import { ask } from './testing/answer.ts'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { isTokenRetract, isTokenUpsert } from './testing/record.ts'
import { chain, client, serveChain, service } from './testing/servedChain.ts'
import type { Block, Hex } from './testing/testChain.ts'
import { until } from './testing/until.ts'

/**
 * One chain that begins a quarter of an hour ago and is brought to the present, so that minutes of holding a price
 * pass in seconds. Every incident has a token of its own.
 */
const WITH = {
  tokens: [
    token(0x71, 'BRIEF', 3),
    token(0x72, 'BRIEFER', 7),
    token(0x73, 'HELD', 5),
    token(0x74, 'HOLDER', 11),
    token(0x75, 'WIDE', 2),
    token(0x76, 'TRAPPED', 9),
    token(0x7c, 'BROAD', 2),
    token(0x77, 'THIN', 0.5),
    token(0x78, 'RUGGED', 6),
    token(0x79, 'SIDED', 8),
    { ...token(0x7a, 'PROXY', 4), isProxied: true },
    token(0x7b, 'ALIKE', 1.5),
  ],
  pools: [
    { deployment: 'uniswap-v2', pair: ['USDC', 'BRIEF'], usd: 600_000 },
    { deployment: 'uniswap-v3', pair: ['USDC', 'BRIEFER'], usd: 400_000, feePpm: 3000 },
    { deployment: 'uniswap-v2', pair: ['USDC', 'HELD'], usd: 600_000 },
    { deployment: 'uniswap-v3', pair: ['USDC', 'HOLDER'], usd: 400_000, feePpm: 3000 },
    { deployment: 'uniswap-v2', pair: ['WETH', 'WIDE'], usd: 900_000 },
    { deployment: 'uniswap-v3', pair: ['USDC', 'WIDE'], usd: 400_000, feePpm: 3000 },
    { deployment: 'uniswap-v2', pair: ['WETH', 'BROAD'], usd: 900_000 },
    { deployment: 'uniswap-v3', pair: ['USDC', 'BROAD'], usd: 400_000, feePpm: 3000 },
    { deployment: 'uniswap-v2', pair: ['WETH', 'TRAPPED'], usd: 700_000 },
    { deployment: 'v2-two', pair: ['USDC', 'TRAPPED'], usd: 500_000 },
    // The last one is thin and yet more than a tenth of the vote, so that it counts (R-dust-1).
    { deployment: 'uniswap-v2', pair: ['USDC', 'THIN'], usd: 600_000 },
    { deployment: 'v2-two', pair: ['USDC', 'THIN'], usd: 500_000 },
    { deployment: 'uniswap-v3', pair: ['USDC', 'THIN'], usd: 50_000, feePpm: 3000 },
    { deployment: 'uniswap-v2', pair: ['WETH', 'THIN'], usd: 250_000 },
    { deployment: 'uniswap-v2', pair: ['USDC', 'RUGGED'], usd: 800_000 },
    { deployment: 'uniswap-v3', pair: ['WETH', 'RUGGED'], usd: 500_000, feePpm: 3000 },
    { deployment: 'uniswap-v3', pair: ['USDC', 'SIDED'], usd: 500_000, feePpm: 3000 },
    { deployment: 'uniswap-v2', pair: ['USDC', 'PROXY'], usd: 500_000 },
    { deployment: 'uniswap-v2', pair: ['WETH', 'ALIKE'], usd: 500_000 },
  ],
} as const

/** Seconds before the present. */
const BEGINNING = 900
/** Half the window of the temporal median is 150 s. */
const LONG = 200
const BRIEF = 20
/** Between two blocks on the way to the present. */
const STEP = 10
/** More than the frozen feed is old, less than the others. */
const HEARTBEAT_S = 600
/** `finalized` is two epochs below the head: the deepest reorganisation returns to it. */
const SLOTS = 32

let lagS = BEGINNING
const nowS = () => Math.floor(Date.now() / 1000) - lagS

const past: { health?: Health; quote?: TokenQuote; trap?: Hex | undefined; imbalanced: (Hex | undefined)[] } =
  {
    imbalanced: [],
  }

const cause = (name: string, rest: Omit<IncidentWish, 'name'> = {}) =>
  causeIncident({ chains: [chain.world] }, { name, ...rest })
const quoteOf = (symbol: string): Promise<TokenQuote> =>
  client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token(symbol) })
async function priced(symbol: string): Promise<PricedQuote> {
  const quote = await quoteOf(symbol)
  if (quote.state !== 'PRICED') throw new Error(`${symbol} is ${JSON.stringify(quote).slice(0, 300)}`)
  return quote
}
const usdOf = ({ price_usd }: PricedQuote): number => Number(price_usd.display)
const codesOf = ({ confidence }: PricedQuote): string[] => confidence.caps.map(({ code }) => code)
const healthOf = () => service.health()
const committed = ({ block }: { readonly block: Pick<Block, 'hash' | 'number'> }) => service.untilTip(block)

/** The chain's clock continues from so many seconds before the present. */
async function goTo(agoS: number): Promise<void> {
  for (; lagS - STEP > agoS; await chain.mine()) {
    lagS -= STEP
    await chain.world.client.setNextBlockTimestamp({ timestamp: BigInt(nowS()) })
  }
  lagS = agoS
  await chain.world.client.setNextBlockTimestamp({ timestamp: BigInt(nowS()) })
}

async function untilHealthy(): Promise<void> {
  await chain.untilMining('the chain healthy again', async () => (await healthOf())?.status === 'HEALTHY')
}

serveChain(planWith(WITH), { heartbeatS: HEARTBEAT_S }, { clock: { hurry: 1, nowS }, slotsInAnEpoch: SLOTS })
beforeAll(async () => {
  await cause('chain-halt')
  past.health = await until('a halted chain noticed', async () => {
    const health = await healthOf()
    return health?.reasons.includes('NO_VERIFIED_HEAD') === true ? health : null
  })
  past.quote = await quoteOf('LARK')
  await cause('chain-halt', { isEnd: true })

  await cause('feed-freeze', { token: 'USDT' })
  past.imbalanced.push((await cause('value-imbalance', { token: 'WIDE' })).pools[0])
  past.trap = (await cause('trap-fee', { token: 'TRAPPED' })).pools[0]
  await goTo(LONG)
  for (const symbol of ['HELD', 'HOLDER']) await cause('multi-block', { token: symbol })
  await goTo(BRIEF)
  for (const symbol of ['BRIEF', 'BRIEFER']) await cause('multi-block', { token: symbol })
  past.imbalanced.push((await cause('value-imbalance', { token: 'BROAD' })).pools[0])
  await goTo(0)
  await chain.world.life.answerFeeds()
  await untilHealthy()
})

describe('a price that is held', () => {
  it.each(['BRIEF', 'BRIEFER'])(
    'for less than half the temporal window scores at most 3 (%s)',
    async symbol => {
      const quote = await priced(symbol)
      const pool = chain.world.plan.tokens.find(each => each.symbol === symbol)
      expect(usdOf(quote) / (pool?.usd ?? 0)).toBeCloseTo(1.8, 1)
      expect(quote.confidence.score).toBeLessThanOrEqual(3)
      expect(quote.routes[0]?.hops[0]?.components.temporal.score).toBeLessThanOrEqual(3)
    },
  )

  it.each(['HELD', 'HOLDER'])('for longer scores at most 5 and shows its one source (%s)', async symbol => {
    const quote = await priced(symbol)
    const plan = chain.world.plan.tokens.find(each => each.symbol === symbol)
    expect(usdOf(quote) / (plan?.usd ?? 0)).toBeCloseTo(1.8, 1)
    expect(quote.confidence.score).toBeLessThanOrEqual(5)
    expect(codesOf(quote)).toContain('SINGLE_SOURCE')
  })

  it('and released is an ordinary price again', async () => {
    await committed(await cause('multi-block', { token: 'HELD', isEnd: true }))
    expect(usdOf(await priced('HELD'))).toBeCloseTo(5, 1)
  })
})

describe('a pool that should not count', () => {
  it('with a fee that swallows every trade is refused by its fee', async () => {
    const pool = await client.fetchPool({ chain_id: CHAIN_ID, pool_address: past.trap as Hex })
    expect(pool.fee_ppm).toBe(500_000)
    expect(pool.state?.score).toBe(0)
    const quote = await priced('TRAPPED')
    expect(usdOf(quote) / 9).toBeCloseTo(1, 1)
    const route = quote.routes.find(each => each.hops[0]?.pool_address === past.trap?.toLowerCase())
    expect(route).toMatchObject({ accepted: false, reason: 'FEE_TOO_HIGH' })
  })

  it('whose sides are worth one to twenty is refused while it is new, however deep', async () => {
    const quote = await priced('BROAD')
    expect(usdOf(quote) / 2).toBeCloseTo(1, 1)
    const route = quote.routes.find(each => each.hops[0]?.pool_address === past.imbalanced[1]?.toLowerCase())
    expect(route?.accepted).toBe(false)
    expect(['IMMATERIAL', 'VALUE_IMBALANCE']).toContain(route?.reason)
  })

  it('and once it has outgrown all others lowers their confidence with it', async () => {
    const quote = await priced('WIDE')
    expect(quote.confidence.score).toBeLessThanOrEqual(3)
    expect(codesOf(quote)).toContain('NO_INDEPENDENT_CONSENSUS')
  })

  it('because its factory is not listed, or never created it, is ignored', async () => {
    const before = await priced('ALIKE')
    const account = await cause('look-alike', { token: 'ALIKE' })
    await committed(account)
    const [unlisted, claimant] = account.pools as [Hex, Hex]
    const key = await service.key()
    const pool = (address: Hex) =>
      ask(`${service.url}/v1/quote/pool/${CHAIN_ID}/${address.toLowerCase()}`, { key })
    const [first, second] = [await pool(unlisted), await pool(claimant)]
    expect([first.status, first.text]).toEqual([422, expect.stringContaining('NOT_SUPPORTED')])
    expect([second.status, second.text]).toEqual([404, expect.stringContaining('NOT_A_POOL')])
    const { pools } = await client.fetchPools({ chain_id: CHAIN_ID, limit: 1000 })
    const known = pools.map(each => each.pool_address)
    for (const address of account.pools) expect(known).not.toContain(address.toLowerCase())
    expect((await priced('ALIKE')).price_usd).toEqual(before.price_usd)
  })
})

describe('a price pushed away', () => {
  it('inside one block is never seen', async () => {
    const [before, after] = [await priced('LARK'), await service.head()]
    await committed(await cause('flash', { token: 'LARK' }))
    // Both trades paid a fee to the pair, which is all that is left of them.
    const published = (await service.records(after)).filter(isTokenUpsert(chain.token('LARK')))
    expect(published.length).toBeGreaterThan(0)
    for (const { payload } of published)
      if (payload.state === 'PRICED')
        expect(Number(payload.price_usd.display) / usdOf(before)).toBeCloseTo(1, 2)
  })

  it('in a thin pool is outvoted', async () => {
    const before = await priced('THIN')
    const account = await cause('thin-pool-spike', { token: 'THIN' })
    await committed(account)
    const quote = await priced('THIN')
    expect(usdOf(quote) / usdOf(before)).toBeCloseTo(1, 3)
    expect(
      before.routes.find(each => each.hops[0]?.pool_address === account.pools[0]?.toLowerCase()),
    ).toMatchObject({
      accepted: true,
    })
    const routes = quote.routes.filter(each => each.hops[0]?.pool_address === account.pools[0]?.toLowerCase())
    expect(routes.length).toBeGreaterThan(0)
    for (const route of routes) expect(route.accepted).toBe(false)
    await committed(await cause('thin-pool-spike', { token: 'THIN', isEnd: true }))
  })
})

describe('liquidity', () => {
  it('that is removed removes the price in the same block', async () => {
    await priced('RUGGED')
    const after = await service.head()
    const account = await cause('rug', { token: 'RUGGED' })
    await committed(account)
    const [retraction] = (await service.records(after)).filter(isTokenRetract(chain.token('RUGGED')))
    expect(retraction?.payload).toMatchObject({
      reason: 'NO_ROUTE',
      current: { state: 'UNPRICED', as_of: { block_hash: account.block.hash } },
    })
    const quote = await quoteOf('RUGGED')
    if (quote.state !== 'UNPRICED') throw new Error(`RUGGED is ${quote.state}`)
    expect(new Set(quote.candidates.map(each => each.rule))).toEqual(new Set(['BELOW_MIN_DEPTH']))
  })

  it('on one side of the price counts as none', async () => {
    await priced('SIDED')
    const after = await service.head()
    await committed(await cause('one-sided', { token: 'SIDED' }))
    expect((await service.records(after)).filter(isTokenRetract(chain.token('SIDED')))).toHaveLength(1)
    expect(await quoteOf('SIDED')).toMatchObject({
      state: 'UNPRICED',
      candidates: [{ rule: 'NO_ACTIVE_LIQUIDITY' }],
    })
  })
})

describe('a stable', () => {
  const untilRecord = (what: string, after: number, is: (record: Envelope) => boolean) =>
    chain.untilMining(what, async () => (await service.records(after)).find(is))

  it('whose feed stops costs confidence past its heartbeat, until it is updated', async () => {
    const stale = await priced('MOTH')
    expect(stale.stable.status).toBe('STALE')
    expect(codesOf(stale)).toContain('STABLE_STALE')
    expect(stale.confidence.score).toBeLessThanOrEqual(4)
    expect(codesOf(await priced('BRIEF'))).not.toContain('STABLE_STALE')
    const after = await service.head()
    await cause('feed-freeze', { token: 'USDT', isEnd: true })
    await untilRecord('MOTH again', after, isTokenUpsert(chain.token('MOTH')))
    expect((await priced('MOTH')).stable.status).toBe('OK')
  })

  it('that loses its peg suspends what depends on it alone, and restores it', async () => {
    let after = await service.head()
    await cause('stable-depeg', { token: 'USDT' })
    await untilRecord('MOTH retracted', after, isTokenRetract(chain.token('MOTH')))
    expect(await quoteOf('MOTH')).toMatchObject({ state: 'UNPRICED', reason: 'STABLE_SUSPENDED' })
    expect(usdOf(await priced('LARK')) / 1.25).toBeCloseTo(1, 1)
    after = await service.head()
    await cause('stable-depeg', { token: 'USDT', isEnd: true })
    await untilRecord('MOTH again', after, isTokenUpsert(chain.token('MOTH')))
    expect((await priced('MOTH')).stable.status).toBe('OK')
  })
})

describe('a token behind a proxy', () => {
  it('whose decimals change has no price until an operator confirms them', async () => {
    const before = usdOf(await priced('PROXY'))
    const after = await service.head()
    await cause('decimals-change')
    const retraction = await chain.untilMining('PROXY retracted', async () =>
      (await service.records(after)).find(isTokenRetract(chain.token('PROXY'))),
    )
    expect(retraction.payload).toMatchObject({ reason: 'DECIMALS' })
    // A changed reading counts half an hour of blocks later, or as soon as an operator confirms it.
    const { admin } = await service.client(['admin'])
    await admin.confirmDecimals({ chain_id: CHAIN_ID, token_address: chain.token('PROXY') }, { decimals: 15 })
    // No price in between was scaled by what the token said only once.
    const upserts = await chain.untilMining('PROXY priced again', async () => {
      const found = (await service.records(after)).filter(isTokenUpsert(chain.token('PROXY')))
      return found.some(({ payload }) => payload.state === 'PRICED') ? found : null
    })
    for (const { payload, stream_sequence } of upserts)
      if (payload.state === 'PRICED' && stream_sequence > retraction.stream_sequence)
        expect(Number(payload.price_usd.display) / before).toBeCloseTo(0.001, 6)
  })
})

describe('a chain', () => {
  it('that was stopped for a quarter of an hour had no prices', () => {
    expect(past.health?.status).toBe('UNAVAILABLE')
    expect(past.quote).toMatchObject({ state: 'UNPRICED', reason: 'FEED' })
  })

  it.each([1, 2, 7, 23, 64])('that replaces %i blocks withdraws what was in them', async depth => {
    const pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    const [before, reserves] = [await priced('MOTH'), await chain.reserves(pool)]
    await service.untilTip(await chain.run(chain.sellV2(pool, 'MOTH', 40_000)))
    const during = await priced('MOTH')
    expect(during.price_usd).not.toEqual(before.price_usd)
    await service.untilTip(await chain.mine(depth - 1))
    const after = await service.head()
    await committed(await cause('reorg', { depth }))
    expect((await service.records(after)).find(isTokenRetract(chain.token('MOTH')))?.payload).toMatchObject({
      reason: 'REORG',
    })
    expect(await chain.reserves(pool)).toEqual(reserves)
    const state = (await client.fetchPool({ chain_id: CHAIN_ID, pool_address: pool })).state
    expect(state?.reserves).toEqual(reserves)
    expect((await priced('MOTH')).price_usd).toEqual(before.price_usd)
  })

  it('that makes no more blocks costs confidence, until it resumes', async () => {
    const before = await priced('ALIKE')
    expect(before.confidence.score).toBeGreaterThan(3)
    await cause('chain-halt')
    await expect(cause('chain-halt')).rejects.toThrow('is halted already')
    await until('the halt noticed', async () => (await healthOf())?.reasons.includes('HEAD_OLD'))
    expect((await healthOf())?.status).toBe('DEGRADED')
    expect((await priced('ALIKE')).confidence.score).toBeLessThanOrEqual(3)
    await cause('chain-halt', { isEnd: true })
    await untilHealthy()
    expect((await priced('ALIKE')).confidence.score).toBe(before.confidence.score)
  })
})

describe('an incident', () => {
  it('is listed by name with one line each, and every one of them was tried above', () => {
    expect(INCIDENTS.map(({ name }) => name)).toEqual([
      'rug',
      'thin-pool-spike',
      'flash',
      'multi-block',
      'trap-fee',
      'value-imbalance',
      'one-sided',
      'stable-depeg',
      'feed-freeze',
      'decimals-change',
      'look-alike',
      'reorg',
      'chain-halt',
    ])
    for (const { about } of INCIDENTS) expect(about).not.toMatch(/\n/)
  })

  it.each([
    [{ name: 'comet' }, 'there is no incident "comet"; there are rug, '],
    [{ name: 'rug', chainId: 7 }, 'the world has no chain 7; it has 1'],
    [{ name: 'rug', token: 'NOPE' }, 'chain 1 has no token "NOPE"; it has USDC, '],
    [{ name: 'rug', isEnd: true }, 'rug has no duration and cannot be ended'],
    [{ name: 'multi-block', token: 'LARK' }, 'needs a token with a single pool; LARK is not one, but '],
    [{ name: 'stable-depeg', token: 'LARK' }, 'needs a stable; expected USDC, USDT, received LARK'],
    [{ name: 'reorg', depth: 65 }, 'the depth of a reorg is 65; expected a whole number from 1 to 64'],
    [{ name: 'reorg', depth: 0 }, 'the depth of a reorg is 0; expected a whole number from 1 to 64'],
  ])('that is impossible is refused with the possible ones: %j', async (wish, sentence) => {
    await expect(
      Promise.resolve().then(() => causeIncident({ chains: [chain.world] }, wish)),
    ).rejects.toThrow(sentence)
    expect(service.faults).toEqual([])
  })
})
