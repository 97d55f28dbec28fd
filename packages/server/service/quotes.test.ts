import { deployV2Factory, createV2Pair, V2_PAIR_INIT_CODE_HASH } from '@assay/world'
import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pass, type RpcProxy, startRpcProxy } from '../feed/testing/rpcProxy.ts'
import { sealPage } from '../http/pageCursor.ts'
import { ask, type Answer } from './testing/answer.ts'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { openTestService, startTestService, type TestService } from './testing/testService.ts'
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

let chain: TestChain
let proxy: RpcProxy
let service: TestService
let unlisted: { readonly factory: Hex; readonly pair: Hex }
beforeAll(async () => {
  chain = await startTestChain(planWith(WITH))
  unlisted = await makeUnlistedPair()
  await chain.rpc('anvil_setCode', LIAR, liarCode())
  await chain.mine()
  proxy = await startRpcProxy(chain.world.url)
  service = await startTestService(chain, { tokens: ['LARK', 'MOTH', 'TWOHOP'], endpoints: [proxy.url] })
})
afterAll(async () => {
  await service?.close()
  await proxy?.close()
  await chain?.close()
})

/**
 * A pool by its own word alone. By hand: token0() is USDC, token1() LARK, and to anything else, factory() among it,
 * the answer is the listed factory.
 */
function liarCode(): Hex {
  const [usdc, lark] = [chain.token('USDC').slice(2), chain.token('LARK').slice(2)]
  const isToken0 = '80630dfe16811460' + '31' + '57'
  const isToken1 = '8063d21220a71460' + '4a' + '57'
  const answer = (address: string) => `73${address}`
  const done = '60' + '60' + '56'
  return `0x5f3560e01c${isToken0}${isToken1}${answer(factoryAddress().slice(2))}${done}5b${answer(usdc)}${done}5b${answer(lark)}5b5f5260205ff3`
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

/** Each with a key of its own: quotes computed on demand are dear. */
const get = async (path: string, method = 'GET'): Promise<Answer> =>
  ask(`${service.url}${path}`, { key: await service.key(), method })
const quote = (address: string, query = '') => get(`/v1/quote/token/${CHAIN_ID}/${address}${query}`)
const poolQuote = (address: string, query = '') => get(`/v1/quote/pool/${CHAIN_ID}/${address}${query}`)

/** Asked until it is no longer pending; every answer before is a 202 that says when to come back. */
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
  it('is pending first and priced then, and from then on listed, streamed and searchable', async () => {
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
  it('of a known pool has both orientations, both prices and the depth ladder', async () => {
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

  it('of a pool that nobody has asked for is computed when a listed factory answers for it', async () => {
    const pair = await chain.createV2('uniswap-v2', 'USDC', 'ALONE')
    const head = await chain.run(chain.fillV2(pair, 'USDC', 'ALONE', 70_000))
    await service.untilTip(head)
    expect(await poolQuote(pair)).toMatchObject({
      status: 200,
      body: { pool_address: pair, source: 'COMPUTED' },
    })
  })

  it('of two tokens that reach no stable is NO_ROUTE', async () => {
    const pair = chain.pool('uniswap-v2', 'ODD', 'EVEN')
    expect(await poolQuote(pair)).toMatchObject({
      status: 422,
      body: { code: 'NO_ROUTE', message: `neither side of ${pair} reaches a stable`, detail: 'NO_ANCHOR' },
    })
  })

  it('of a pool-like contract whose factory is not listed is NOT_SUPPORTED', async () => {
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

  it('goes over what it may, and is never logged', async () => {
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
      { code: 'NO_ROUTE', message: 'no route is left with these limits', detail: expect.any(String) },
    ])
  })

  it('without its only pool is NO_ROUTE', async () => {
    const answer = await narrowed('MOTH', `exclude_pools=${chain.pool('uniswap-v2', 'USDT', 'MOTH')}`)
    expect(answer).toMatchObject({ status: 422, body: { code: 'NO_ROUTE' } })
  })
})

describe('a malformed quote', () => {
  const lark = () => chain.token('LARK')
  const wrongChecksum = (address: string) => {
    const good = getAddress(address)
    const at = [...good].findIndex((letter, n) => n > 1 && /[a-f]/i.test(letter))
    const letter = good[at] as string
    const flipped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
    return good.slice(0, at) + flipped + good.slice(at + 1)
  }

  it.each([
    [
      '?depth=1',
      'unknown parameter "depth"; expected max_age_ms, deadline_ms, max_hops, min_depth_usd, exclude_pools',
    ],
    ['?max_hops=1&max_hops=1', 'parameter max_hops is given twice; expected it once'],
    ['?max_hops=0', 'max_hops is "0"; expected an integer from 1 to 3'],
    ['?max_hops=4', 'max_hops is "4"; expected an integer from 1 to 3'],
    ['?max_hops=1.0', 'max_hops is "1.0"; expected an integer from 1 to 3'],
    ['?max_hops=', 'max_hops is ""; expected an integer from 1 to 3'],
    ['?deadline_ms=99', 'deadline_ms is "99"; expected an integer from 100 to 10000'],
    ['?deadline_ms=10001', 'deadline_ms is "10001"; expected an integer from 100 to 10000'],
    ['?max_age_ms=-1', 'max_age_ms is "-1"; expected an integer from 0 to 604800000'],
    ['?min_depth_usd=1e3', 'min_depth_usd is "1e3"; expected an integer from 0 to 1000000000'],
  ])('with %s is INVALID_PARAMS', async (query, message) => {
    const { status, body } = await quote(lark(), query)
    expect([status, body]).toEqual([400, { code: 'INVALID_PARAMS', message, detail: null }])
  })

  it.each(['01', 'one', '-1', '1.5', '9007199254740993'])('of chain %s is INVALID_PARAMS', async chainId => {
    const { status, body } = await get(`/v1/quote/token/${chainId}/${lark()}`)
    expect([status, body]).toEqual([
      400,
      {
        code: 'INVALID_PARAMS',
        message: `chain_id is "${chainId}"; expected an integer from 0 to 9007199254740991`,
        detail: null,
      },
    ])
  })

  it('of an address with a wrong checksum is INVALID_ADDRESS; in one case or with the right one it is fine', async () => {
    const wrong = wrongChecksum(lark())
    for (const path of [`/v1/quote/token/1/${wrong}`, `/v1/quote/pool/1/${wrong}`]) {
      const name = path.includes('pool') ? 'pool_address' : 'token_address'
      const { status, body } = await get(path)
      expect([status, body]).toEqual([
        400,
        {
          code: 'INVALID_ADDRESS',
          message: `${name} ${wrong} has a wrong checksum; expected ${getAddress(lark())} or lower case`,
          detail: null,
        },
      ])
    }
    for (const address of [lark(), getAddress(lark()), `0x${lark().slice(2).toUpperCase()}`])
      expect((await quote(address)).status).toBe(200)
  })

  it.each(['0x12', 'LARK', '0X'.padEnd(42, 'a'), `0x${'g'.repeat(40)}`, `0x${'a'.repeat(41)}`])(
    'of %s is INVALID_ADDRESS',
    async address => {
      const { status, body } = await quote(address)
      expect([status, body]).toEqual([
        400,
        {
          code: 'INVALID_ADDRESS',
          message: `token_address is "${address}"; expected 0x and 40 hex digits`,
          detail: null,
        },
      ])
    },
  )

  it('of a chain that is not served is UNSUPPORTED_CHAIN', async () => {
    for (const kind of ['token', 'pool']) {
      const { status, body } = await get(`/v1/quote/${kind}/137/${lark()}`)
      expect([status, body]).toEqual([
        404,
        { code: 'UNSUPPORTED_CHAIN', message: 'chain 137 is not served; served are 1', detail: null },
      ])
    }
  })
})

describe('an error outside quotes', () => {
  it.each([
    ['/v1/tokens', 400, 'parameter chain_id is missing'],
    ['/v1/tokens?chain_id=1&chain_id=1', 400, 'parameter chain_id is given twice; expected it once'],
    ['/v1/tokens?chain_id=1&limit=1001', 400, 'limit is "1001"; expected an integer from 1 to 1000'],
    ['/v1/tokens?chain_id=1&limit=0', 400, 'limit is "0"; expected an integer from 1 to 1000'],
    ['/v1/tokens?chain_id=5', 404, 'chain 5 is not served; served are 1'],
    ['/v1/chains?x=1', 400, 'unknown parameter "x"; expected none'],
    ['/v1/search', 400, 'parameter address is missing'],
    ['/v1/search?address=0x1', 400, 'address is "0x1"; expected 0x and 40 hex digits'],
    [
      `/v1/pools?token_address=0x${'1'.repeat(40)}`,
      400,
      'token_address needs chain_id: the same address may be another token elsewhere',
    ],
    ['/v1/pools/1/0x1', 400, 'pool_address is "0x1"; expected 0x and 40 hex digits'],
    [`/v1/pools/1/${NOBODY}`, 404, `pool ${NOBODY} is not known on chain 1; GET /v1/quote/pool looks it up`],
    [`/v1/pools/9/${NOBODY}`, 404, 'chain 9 is not served; served are 1'],
    ['/v1/chains/9/health', 404, 'chain 9 is not served; served are 1'],
    ['/v1/nowhere', 404, 'there is no such resource; GET /v1/chains is a good start'],
    ['/v1/quote/nothing', 404, 'there is no such resource; GET /v1/chains is a good start'],
  ])('%s is a %i with one sentence', async (path, status, error) => {
    const answer = await get(path)
    expect([answer.status, answer.body]).toEqual([status, { error }])
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  })

  it('of the events of a pool names the kind', async () => {
    const { status, body } = await get(
      `/v1/pools/1/${chain.pool('uniswap-v2', 'USDC', 'LARK')}/events?kind=swap`,
    )
    expect([status, body]).toEqual([
      400,
      { error: 'kind is "swap"; expected one of SWAP, MINT, BURN, SYNC, INITIALIZE, CREATED' },
    ])
  })

  it.each([
    ['POST', '/v1/chains', 'GET'],
    ['DELETE', '/v1/pools', 'GET'],
    ['PUT', '/v1/session', 'GET, POST, DELETE'],
    ['POST', '/v1/quote/token/1/0x', 'GET'],
    ['PATCH', '/v1/chains/1/health', 'GET'],
  ])('%s %s is 405 and Allow says what is served', async (method, path, allow) => {
    const answer = await get(path, method)
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe(allow)
    expect(answer.body).toEqual({
      error: `${method} is not served here; expected ${allow.split(', ').join(' or ')}`,
    })
  })

  it('does not come from a URL that cannot be decoded, and no answer shows a stack', async () => {
    for (const path of [
      '/v1/pools/1/%zz',
      '/v1/quote/token/1/%c3%28',
      '/v1/tokens?chain_id=%ff',
      '/v1/%00',
    ]) {
      const { status, text } = await get(path)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(500)
      expect(text).not.toMatch(/\.ts|node_modules|at /)
    }
  })
})

describe('pages', () => {
  const walk = async (path: string, list: 'pools' | 'tokens') => {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body } = await get(`${path}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect(status).toBe(200)
      const page = body as { next_cursor: string | null } & Record<string, Record<string, string>[]>
      for (const row of page[list] ?? []) seen.push(row['pool_address'] ?? row['token_address'] ?? '')
      cursor = page.next_cursor
    }
    return seen
  }

  it('of pools and tokens together are the whole list, each once, in order', async () => {
    for (const [path, list] of [
      ['/v1/pools?chain_id=1', 'pools'],
      ['/v1/tokens?chain_id=1', 'tokens'],
    ] as const) {
      const seen = await walk(path, list)
      const { body } = await get(`${path}&limit=1000`)
      const whole = (body as Record<string, Record<string, string>[]>)[list] ?? []
      expect(seen).toEqual(whole.map(row => row['pool_address'] ?? row['token_address']))
      expect(seen).toEqual(seen.toSorted())
      expect(new Set(seen).size).toBe(seen.length)
    }
  })

  it('narrowed to a token hold its pools and no others', async () => {
    const seen = await walk(`/v1/pools?chain_id=1&token_address=${chain.token('LARK')}`, 'pools')
    expect(seen.toSorted()).toEqual(
      [chain.pool('uniswap-v2', 'USDC', 'LARK'), chain.pool('uniswap-v3', 'WETH', 'LARK')].toSorted(),
    )
  })

  it('are refused with a cursor that is forged, cut, or of another query, list or service', async () => {
    const next = async (path: string) =>
      ((await get(path)).body as { next_cursor: string | null }).next_cursor ?? ''
    const own = await next('/v1/pools?chain_id=1&limit=1')
    const flipped = `${own.slice(0, 5)}${own[5] === 'A' ? 'B' : 'A'}${own.slice(6)}`
    const forged = sealPage(new Uint8Array(32), 'pools 1 ', [1, NOBODY])
    for (const cursor of [
      flipped,
      own.slice(0, -4),
      `${own}AAAA`,
      forged,
      'AAAAAAAAAAAAAAAA',
      'x',
      '',
      await next('/v1/tokens?chain_id=1&limit=1'),
      await next('/v1/pools?limit=1'),
      await next(`/v1/pools?chain_id=1&limit=1&token_address=${chain.token('LARK')}`),
    ]) {
      const { status, body } = await get(`/v1/pools?chain_id=1&limit=1&cursor=${cursor}`)
      expect([cursor, status, body]).toEqual([
        cursor,
        400,
        { error: 'cursor is not one of this query; expected the next_cursor of its previous page' },
      ])
    }
    expect((await get(`/v1/pools?chain_id=1&limit=1&cursor=${own}`)).status).toBe(200)
  })
})

describe('what is computed on demand', () => {
  it('costs ten units, other requests one, and a thousand rows one more', async () => {
    const key = await service.key()
    const left = async (path: string) =>
      Number(
        /;r=(\d+);/.exec((await ask(`${service.url}${path}`, { key })).headers.get('ratelimit') ?? '')?.[1],
      )
    const before = await left('/v1/chains')
    // Ten units come back every second; these take far less.
    expect(before - (await left('/v1/pools?limit=1000'))).toBeOneOf([1, 2])
    const between = await left('/v1/chains')
    expect(between - (await left(`/v1/quote/token/1/${chain.token('LARK')}?max_hops=1`))).toBeOneOf([
      8, 9, 10,
    ])
  })

  it('is not older than asked for: verified anew, and computed now', async () => {
    const { body } = await quote(chain.token('MOTH'), '?max_age_ms=0')
    const { source, evaluated_at_ms } = body as { source: string; evaluated_at_ms: number }
    expect(source).toBe('COMPUTED')
    expect(Date.now() - evaluated_at_ms).toBeLessThan(5000)
    expect((await quote(chain.token('MOTH'), '?max_age_ms=600000')).body).toMatchObject({
      source: 'RETRIEVED',
    })
  })

  it('and not there in time is DEADLINE_EXCEEDED', async () => {
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

  it('from a chain whose node is away is RPC_UNAVAILABLE, while what was published is still there', async () => {
    proxy.rule = (_call, _fetchAnswer, response) => {
      response.destroy()
      return 'handled'
    }
    const known = await quote(chain.token('LARK'))
    expect(known).toMatchObject({ status: 200, body: { state: 'PRICED' } })
    const [fresh, pool] = await Promise.all([
      quote(chain.token('MOTH'), '?max_age_ms=0&deadline_ms=10000'),
      poolQuote(`0x${'cd'.repeat(20)}`, '?deadline_ms=10000'),
    ])
    for (const answer of [fresh, pool])
      expect([answer.status, answer.body]).toEqual([
        503,
        {
          code: 'RPC_UNAVAILABLE',
          message: 'the chain cannot be asked right now; try again',
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
      { code: 'RPC_UNAVAILABLE', message: 'the chain cannot be asked right now; try again', detail: null },
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
    const key = await young.key()
    const asked = async () => {
      const { status, body } = await ask(`${young.url}/v1/quote/token/${CHAIN_ID}/${chain.token('TWOHOP')}`, {
        key,
      })
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
      // What a pool's first record says stays until it changes: it must not be said too early.
      expect(pools.map(each => each.state?.reason ?? null)).toEqual(pools.map(() => null))
    } finally {
      resolve()
      await young.close()
      await held.close()
    }
  })
})
