import { getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { sealPage } from '../http/plumbing/pageCursor.ts'
import { type Answer, ask } from './testing/answer.ts'
import { chain, serveChain, service } from './testing/servedChain.ts'
import type { Hex } from './testing/testChain.ts'

const NOBODY: Hex = `0x${'d0'.repeat(20)}`

serveChain()

/** Each with a key of its own, so that none is refused for the others. */
const get = async (path: string, method = 'GET'): Promise<Answer> =>
  ask(`${service.url}${path}`, { key: await service.key(), method })

describe('a malformed quote', () => {
  const lark = () => chain.token('LARK')
  const wrongChecksum = (address: string) => {
    const good = getAddress(address)
    const at = Array.from(good).findIndex((letter, n) => n > 1 && /[a-f]/i.test(letter))
    const letter = good[at] as string
    const flipped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
    return good.slice(0, at) + flipped + good.slice(at + 1)
  }

  it.each([
    [
      '?depth=1',
      'unknown parameter "depth"; expected max_age_ms, deadline_ms, max_hops, min_depth_usd, exclude_pools, view',
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
    const { status, body } = await get(`/v1/quote/token/1/${lark()}${query}`)
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
      expect((await get(`/v1/quote/token/1/${address}`)).status).toBe(200)
  })

  it.each(['0x12', 'LARK', '0X'.padEnd(42, 'a'), `0x${'g'.repeat(40)}`, `0x${'a'.repeat(41)}`])(
    'of %s is INVALID_ADDRESS',
    async address => {
      const { status, body } = await get(`/v1/quote/token/1/${address}`)
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

  it('of an unserved chain is UNSUPPORTED_CHAIN', async () => {
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
    ['/v1/search', 400, 'search needs either address or q'],
    ['/v1/search?address=0x1', 400, 'address is "0x1"; expected 0x and 40 or 64 hex digits'],
    [
      `/v1/pools?token_address=0x${'1'.repeat(40)}`,
      400,
      'token_address needs chain_id: the same address may be another token elsewhere',
    ],
    ['/v1/pools/1/0x1', 400, 'pool_address is "0x1"; expected 0x and 40 or 64 hex digits'],
    [`/v1/pools/1/${NOBODY}`, 404, `pool ${NOBODY} is not known on chain 1; GET /v1/quote/pool looks it up`],
    [`/v1/pools/9/${NOBODY}`, 404, 'chain 9 is not served; served are 1'],
    ['/v1/chains/9/health', 404, 'chain 9 is not served; served are 1'],
    ['/v1/nowhere', 404, 'there is no such resource; start with GET /v1/chains'],
    ['/v1/quote/nothing', 404, 'there is no such resource; start with GET /v1/chains'],
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
      {
        error:
          'kind is "swap"; expected one of SWAP, MINT, BURN, SYNC, INITIALIZE, CREATED, FEE, MODIFY, PROTOCOL_FEE',
      },
    ])
  })

  it.each([
    ['POST', '/v1/chains', 'GET'],
    ['DELETE', '/v1/pools', 'GET'],
    ['PUT', '/v1/session', 'GET, POST, DELETE'],
    ['POST', '/v1/quote/token/1/0x', 'GET'],
    ['PATCH', '/v1/chains/1/health', 'GET'],
  ])('%s %s is 405 and Allow lists the methods served', async (method, path, allow) => {
    const answer = await get(path, method)
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe(allow)
    expect(answer.body).toEqual({
      error: `${method} is not allowed here; expected ${allow.split(', ').join(' or ')}`,
    })
  })

  it('does not come from a URL that cannot be decoded, and no response shows a stack', async () => {
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
        { error: 'cursor does not belong to this query; expected the next_cursor of its previous page' },
      ])
    }
    expect((await get(`/v1/pools?chain_id=1&limit=1&cursor=${own}`)).status).toBe(200)
  })
})
