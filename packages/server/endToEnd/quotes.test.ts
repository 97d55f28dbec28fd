import { deployV2Factory, createV2Pair, V2_PAIR_INIT_CODE_HASH } from '@assay/world'
import { getAddress } from 'viem'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { pass, type RpcProxy, startRpcProxy } from '../feed/testing/rpcProxy.ts'
import { ask, type Answer } from './testing/answer.ts'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { chain, serveChain, service } from './testing/servedChain.ts'
import type { Hex } from './testing/testChain.ts'
import { openTestService } from './testing/testService.ts'
import { until } from './testing/until.ts'

/** Of these only what the plan has anyway is in the configuration. */
const WITH = {
  tokens: [
    token(0x51, 'STRAY', 2),
    token(0x52, 'THIN', 1),
    token(0x53, 'ALONE', 1),
    token(0x54, 'ODD', 1),
    token(0x55, 'EVEN', 1),
    token(0x56, 'TWOHOP', 5),
  ],
  pools: [
    { deployment: 'uniswap-v2', pair: ['USDC', 'STRAY'], usd: 400_000 },
    { deployment: 'uniswap-v2', pair: ['USDC', 'THIN'], usd: 900 },
    { deployment: 'uniswap-v2', pair: ['ODD', 'EVEN'], usd: 50_000 },
    { deployment: 'uniswap-v2', pair: ['WETH', 'TWOHOP'], usd: 500_000 },
  ],
} as const

const NOBODY: Hex = `0x${'d0'.repeat(20)}`
const LIAR: Hex = `0x${'11'.repeat(20)}`

let proxy: RpcProxy
let unlisted: { readonly factory: Hex; readonly pair: Hex }
// In front: a service ends before the proxy it reads by.
afterAll(() => proxy?.close())
serveChain(planWith(WITH), async () => {
  unlisted = await makeUnlistedPair()
  await chain.rpc('anvil_setCode', LIAR, liarCode())
  await chain.mine()
  proxy = await startRpcProxy(chain.world.url)
  return { tokens: ['LARK', 'MOTH', 'TWOHOP'], endpoints: [proxy.url] }
})
beforeEach(() => service.untilWell())

/**
 * A pool by its own word alone. By hand: token0() is USDC, token1() LARK, and to anything else, factory() among it,
 * the answer is the listed factory.
 */
function liarCode(): Hex {
  const [usdc, lark] = [chain.token('USDC').slice(2), chain.token('LARK').slice(2)]
  const push = (address: string) => `73${address}`
  return [
    '0x5f3560e01c', // the selector
    '80630dfe16811460',
    '3157', // token0(): to 0x31
    '8063d21220a71460',
    '4a57', // token1(): to 0x4a
    push(factoryAddress().slice(2)),
    '606056',
    '5b',
    push(usdc),
    '606056', // 0x31
    '5b',
    push(lark), // 0x4a
    '5b5f5260205ff3', // 0x60: return it
  ].join('') as Hex
}

const factoryAddress = (): string =>
  chain.world.plan.deployments.find(each => each.id === 'uniswap-v2')?.factory.toLowerCase() ?? ''

async function makeUnlistedPair() {
  const { client } = chain.world
  const { address } = await deployV2Factory(client, `0x${'fa'.repeat(20)}`)
  const factory = { address, pairInitCodeHash: V2_PAIR_INIT_CODE_HASH }
  const tokens = [getAddress(chain.token('USDC')), getAddress(chain.token('LARK'))] as const
  const pair = await createV2Pair(client, factory, tokens)
  return { factory: address.toLowerCase() as Hex, pair: pair.address.toLowerCase() as Hex }
}

/** The longest allowed: latency matters only where a test states it. */
const LONGEST = 'deadline_ms=10000'
const patient = (query: string) =>
  query.includes('deadline_ms') ? query : `${query}${query === '' ? '?' : '&'}${LONGEST}`
/** Each with a key of its own: quotes computed on demand are dear. */
const get = async (path: string): Promise<Answer> =>
  ask(`${service.url}${path}`, { key: await service.key() })
const quote = (address: string, query = '') => get(`/v1/quote/token/${CHAIN_ID}/${address}${patient(query)}`)
const poolQuote = (address: string, query = '') =>
  get(`/v1/quote/pool/${CHAIN_ID}/${address}${patient(query)}`)

/** Asked until it is no longer pending; every earlier response is a 202 with the time to retry. */
async function untilAnswered(address: string): Promise<Answer> {
  const first = await quote(address)
  expect(first.status).toBe(202)
  expect(first.body).toEqual({
    chain_id: CHAIN_ID,
    token: address,
    state: 'PENDING',
    stage: 'DISCOVERY',
    retry_after_ms: 1000,
  })
  expect(first.headers.get('retry-after')).toBe('1')
  return until(`an answer for ${address}`, async () => {
    const answer = await quote(address)
    return answer.status !== 202 && answer
  })
}

describe('a token in no configuration', () => {
  it('R-quote-1, R-find-2, R-find-3: is pending first, then priced, and from then on listed, streamed and searchable', async () => {
    const after = await service.head()
    const address = chain.token('STRAY')
    const { status, body } = await untilAnswered(address)
    expect(status).toBe(200)
    expect(body).toMatchObject({ state: 'PRICED', token: address, source: 'RETRIEVED' })
    // 2 dollars, less the fee of the sale and its own small weight.
    expect(Number((body as { price_usd: { display: string } }).price_usd.display)).toBeCloseTo(1.994, 2)
    const client = await service.client()
    const { tokens } = await client.fetchTokens({ chain_id: CHAIN_ID })
    expect(tokens.find(each => each.token_address === address)).toMatchObject({
      symbol: 'STRAY',
      state: 'PRICED',
      enrolled_at_ms: expect.any(Number),
    })
    const pair = chain.pool('uniswap-v2', 'USDC', 'STRAY')
    expect((await client.search({ address: pair })).pools.map(each => each.pool_address)).toEqual([pair])
    const records = await service.records(after)
    expect(
      records.filter(record => record.routing.token_ids.some(id => id.endsWith(address.slice(2)))),
    ).not.toEqual([])
    expect((await quote(address)).status).toBe(200)
  })

  it('whose only pool is too thin is UNPRICED, with the rule it failed and by how much', async () => {
    const { status, body } = await untilAnswered(chain.token('THIN'))
    expect(status).toBe(200)
    const { state, reason, candidates } = body as {
      state: string
      reason: string
      candidates: { rule: string; actual: string; required: string; hops: { pool_address: string }[] }[]
    }
    expect([state, reason, candidates.length]).toEqual(['UNPRICED', 'NO_ROUTE', 1])
    const [candidate] = candidates
    expect(candidate).toMatchObject({ rule: 'BELOW_MIN_DEPTH', required: '50000000 microusd' })
    // A 2% move of a pair of 900 dollars a side takes nine.
    const microusd = Number(/^(\d+) microusd$/.exec(candidate?.actual ?? '')?.[1])
    expect(microusd / 1_000_000).toBeGreaterThan(8.5)
    expect(microusd / 1_000_000).toBeLessThan(9.5)
    expect(candidate?.hops.map(hop => hop.pool_address)).toEqual([chain.pool('uniswap-v2', 'USDC', 'THIN')])
  })

  it('without any pool is UNPRICED for that reason', async () => {
    const { status, body } = await untilAnswered(chain.token('ALONE'))
    expect(status).toBe(200)
    expect(body).toMatchObject({ state: 'UNPRICED', reason: 'NO_POOL', candidates: [] })
  })

  it.each([
    ['an account without code', () => NOBODY],
    ['a contract that is no token', () => factoryAddress()],
  ])('that is %s is TOKEN_UNKNOWN', async (_, addressOf) => {
    const address = addressOf()
    const { status, body } = await untilAnswered(address)
    expect([status, body]).toEqual([
      404,
      {
        code: 'TOKEN_UNKNOWN',
        message: `there is no token at ${address} on chain ${CHAIN_ID}`,
        detail: null,
      },
    ])
    expect((await quote(address)).status).toBe(404)
  })
})

describe('a pool quote', () => {
  it('R-demand-3, R-pool-6: of a known pool has both orientations, both prices and the depth ladder', async () => {
    const pair = chain.pool('uniswap-v2', 'USDC', 'LARK')
    const { status, body } = await poolQuote(pair)
    expect(status).toBe(200)
    const { ratios, depth_ladder, source } = body as {
      ratios: { from: string; to: string; ratio: { numerator: string; denominator: string } }[]
      depth_ladder: { percent: number; up_microusd: string; down_microusd: string }[]
      source: string
    }
    expect(source).toBe('COMPUTED')
    expect(ratios.map(each => [each.from, each.to])).toEqual([
      [chain.token('LARK'), chain.token('USDC')],
      [chain.token('USDC'), chain.token('LARK')],
    ])
    const [there, back] = ratios.map(each => each.ratio)
    expect([back?.numerator, back?.denominator]).toEqual([there?.denominator, there?.numerator])
    expect(depth_ladder.map(each => each.percent)).toEqual([1, 2, 5, 10])
    const ups = depth_ladder.map(each => Number(each.up_microusd))
    expect(ups).toEqual(ups.toSorted((a, b) => a - b))
  })

  it('R-quote-4: of an unknown pool is computed when a listed factory confirms it', async () => {
    const pair = await chain.createV2('uniswap-v2', 'USDC', 'ALONE')
    const head = await chain.run(chain.fillV2(pair, 'USDC', 'ALONE', 70_000))
    await service.untilTip(head)
    expect(await poolQuote(pair)).toMatchObject({
      status: 200,
      body: { pool_address: pair, source: 'COMPUTED' },
    })
  })

  it('R-quote-4: of two tokens that reach no stable is NO_ROUTE', async () => {
    const pair = chain.pool('uniswap-v2', 'ODD', 'EVEN')
    expect(await poolQuote(pair)).toMatchObject({
      status: 422,
      body: { code: 'NO_ROUTE', message: `neither side of ${pair} reaches a stable`, detail: 'NO_ANCHOR' },
    })
  })

  it('R-quote-4: of a pool-like contract whose factory is not listed is NOT_SUPPORTED', async () => {
    const { status, body } = await poolQuote(unlisted.pair)
    expect([status, body]).toEqual([
      422,
      {
        code: 'NOT_SUPPORTED',
        message: `${unlisted.pair} is a pool of a factory that is not listed`,
        detail: `factory ${unlisted.factory} is not listed`,
      },
    ])
  })

  it.each([
    ['an account without code', () => NOBODY],
    ['a token', () => chain.token('USDC')],
    ['a contract that only claims a listed factory', () => LIAR],
  ])('of %s is NOT_A_POOL', async (_, addressOf) => {
    const address = addressOf()
    const { status, body } = await poolQuote(address)
    expect([status, body]).toEqual([
      404,
      {
        code: 'NOT_A_POOL',
        message: `${address} is not a pool of a listed factory on chain ${CHAIN_ID}`,
        detail: null,
      },
    ])
  })
})

describe('a narrowed quote', () => {
  const narrowed = (symbol: string, query: string) => quote(chain.token(symbol), `?${query}`)

  it('R-demand-1, R-demand-2: uses only the allowed routes, and is never logged', async () => {
    const before = await service.head()
    const v2 = chain.pool('uniswap-v2', 'USDC', 'LARK')
    const { status, body } = await narrowed('LARK', `exclude_pools=${v2}`)
    expect(status).toBe(200)
    const { routes, source } = body as { source: string; routes: { hops: { pool_address: string }[] }[] }
    expect(source).toBe('COMPUTED')
    expect(routes.length).toBeGreaterThan(0)
    expect(routes.flatMap(route => route.hops.map(hop => hop.pool_address))).not.toContain(v2)
    expect((await service.records(before)).filter(record => record.type !== 'FEED_HEALTH')).toEqual([])
  })

  it.each([
    ['max_hops=1', 'TWOHOP'],
    ['min_depth_usd=1000000000', 'MOTH'],
  ])('with %s that leaves %s no route is NO_ROUTE', async (query, symbol) => {
    const { status, body } = await narrowed(symbol, query)
    expect([status, body]).toEqual([
      422,
      { code: 'NO_ROUTE', message: 'no route is left within these limits', detail: expect.any(String) },
    ])
  })

  it('without its only pool is NO_ROUTE', async () => {
    const answer = await narrowed('MOTH', `exclude_pools=${chain.pool('uniswap-v2', 'USDT', 'MOTH')}`)
    expect(answer).toMatchObject({ status: 422, body: { code: 'NO_ROUTE' } })
  })
})

describe('what is computed on demand', () => {
  it('is not older than requested: verified again, and computed now', async () => {
    const askedAtMs = Date.now()
    const { body } = await quote(chain.token('MOTH'), '?max_age_ms=0')
    const { source, evaluated_at_ms } = body as { source: string; evaluated_at_ms: number }
    expect(source).toBe('COMPUTED')
    expect(evaluated_at_ms).toBeGreaterThanOrEqual(askedAtMs)
    expect((await quote(chain.token('MOTH'), '?max_age_ms=600000')).body).toMatchObject({
      source: 'RETRIEVED',
    })
  })

  it('and not finished in time is DEADLINE_EXCEEDED', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    proxy.rule = async (call, fetchAnswer) => {
      if (call.method === 'eth_call') await promise
      return fetchAnswer()
    }
    const { status, body } = await poolQuote(`0x${'ab'.repeat(20)}`, '?deadline_ms=100')
    expect([status, body]).toEqual([
      504,
      {
        code: 'DEADLINE_EXCEEDED',
        message: 'no answer within 100 ms; raise deadline_ms or try again',
        detail: null,
      },
    ])
    resolve()
    proxy.rule = pass
    await until('an answer', async () => (await poolQuote(`0x${'ab'.repeat(20)}`)).status === 404)
  })

  it('from a chain whose node is down is RPC_UNAVAILABLE, while published prices are still served', async () => {
    proxy.rule = (_call, _fetchAnswer, response) => {
      response.destroy()
      return 'handled'
    }
    const known = await quote(chain.token('LARK'))
    expect(known).toMatchObject({ status: 200, body: { state: 'PRICED' } })
    const [fresh, pool] = await Promise.all([
      quote(chain.token('MOTH'), '?max_age_ms=0'),
      poolQuote(`0x${'cd'.repeat(20)}`),
    ])
    for (const answer of [fresh, pool])
      expect([answer.status, answer.body]).toEqual([
        503,
        {
          code: 'RPC_UNAVAILABLE',
          message: 'the chain cannot be reached right now; try again',
          detail: expect.any(String),
        },
      ])
    expect(JSON.stringify([fresh.body, pool.body])).not.toMatch(/https?:|127\.0\.0\.1/)
    const asked = chain.token('EVEN')
    expect((await quote(asked)).status).toBe(202)
    const { status, body } = await until('an answer', async () => {
      const answer = await quote(asked)
      return answer.status !== 202 && answer
    })
    expect([status, body]).toEqual([
      503,
      { code: 'RPC_UNAVAILABLE', message: 'the chain cannot be reached right now; try again', detail: null },
    ])
    // Back again, it is asked again: a failure is not remembered against the token.
    proxy.rule = pass
    await until('an evaluation', async () => (await quote(asked)).status === 200)
    expect(service.faults).toEqual([])
  })
})

describe('while the service starts', () => {
  it('a token is pending until its anchors are known, and never evaluated without them', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const anchors = ['USDC', 'USDT', 'WETH'].map(symbol => chain.token(symbol).slice(2))
    // Whether two anchors have a pool is not answered yet; everything else is.
    const isAboutAnchors = (params: unknown) =>
      anchors.filter(each => JSON.stringify(params).includes(each)).length > 1
    const held = await startRpcProxy(chain.world.url, async (call, fetchAnswer) => {
      if (call.method === 'eth_call' && isAboutAnchors(call.params)) await promise
      return fetchAnswer()
    })
    const young = await openTestService(chain, { name: 'young', tokens: [], endpoints: [held.url] })
    const asked = async () => {
      const path = `/v1/quote/token/${CHAIN_ID}/${chain.token('TWOHOP')}`
      const { status, body } = await ask(`${young.url}${path}`, { key: await young.key() })
      return `${status} ${(body as { state?: string }).state}`
    }
    try {
      await until('pending', async () => (await asked()) === '202 PENDING')
      for (let n = 0; n < 20; n++) expect(await asked()).toBe('202 PENDING')
      resolve()
      const answer = await until('an evaluation', async () => {
        const text = await asked()
        return text !== '202 PENDING' && text
      })
      expect(answer).toBe('200 PRICED')
      const { pools } = await (await young.client()).fetchPools()
      // A pool's first record stays until it changes: it must not be published too early.
      expect(pools.map(each => each.state?.reason ?? null)).toEqual(pools.map(() => null))
    } finally {
      resolve()
      await young.close()
      await held.close()
    }
  })
})
