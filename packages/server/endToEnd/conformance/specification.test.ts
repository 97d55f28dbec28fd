/** States, endpoints, authentication and errors (R-quote, R-http, R-access, R-error) of a service on a chain that runs. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { QUOTE_ERRORS } from '@assay/sdk/wire'
import { frugalKey } from '../testing/frugal.ts'
import { handshake, opened, RawSocket } from '../testing/handshake.ts'
import { CHAIN_ID, IDLE, planWith } from '../testing/plan.ts'
import { chain, serveChain, service } from '../testing/servedChain.ts'
import { until } from '../testing/until.ts'
import { DescribedApi } from './describedApi.ts'
import { writeExamples } from './examples.ts'

const NOBODY = `0x${'d0'.repeat(20)}`

let api: DescribedApi
serveChain(planWith({ tokens: [IDLE] }), { tokens: ['MOTH'] })
beforeAll(async () => {
  api = await DescribedApi.of(service)
})
beforeEach(() => service.untilWell())
afterAll(() => {
  if (api !== undefined) writeExamples(api.answers)
})

const quotePath = (token: string, query = '') => `/v1/quote/token/${CHAIN_ID}/${token}${query}`
type Body = Record<string, unknown>
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const origin = () => service.url.replace('127.0.0.1', 'localhost')

async function session(key: string) {
  const answer = await api.ask('/v1/session', { method: 'POST', key })
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { answer, cookie }
}

/** Asked again, within the guidance, until it is not pending. */
async function enrolled(token: string) {
  const first = await api.get(quotePath(token))
  const settled = await chain.untilMining('the token evaluated', async () => {
    const answer = await api.get(quotePath(token))
    return answer.status === 202 ? null : answer
  })
  return { first, settled }
}

describe('R-quote-1: states and transitions', () => {
  it('202 pending enrollment: accepted, discovery or evaluation pending, with guidance when to retry', async () => {
    const lark = chain.token('LARK')
    const { first, settled } = await enrolled(lark)
    expect(first.status).toBe(202)
    expect(first.body).toEqual({
      chain_id: CHAIN_ID,
      token: lark,
      state: 'PENDING',
      stage: expect.stringMatching(/^(DISCOVERY|EVALUATION)$/) as string,
      retry_after_ms: 1000,
    })
    expect(first.headers.get('retry-after')).toBe('1')
    expect(first.text).not.toContain('price')
    expect(settled.status).toBe(200)
    expect(settled.body).toMatchObject({ state: 'PRICED', token: lark })
  })

  it('200 UNPRICED: a completed evaluation without a usable price, with its metadata and no zero', async () => {
    const { settled } = await enrolled(chain.token('IDLE'))
    expect(settled.status).toBe(200)
    expect(settled.body).toMatchObject({
      state: 'UNPRICED',
      reason: 'NO_POOL',
      candidates: [],
      last_priced: null,
      as_of: { block_number: expect.any(Number) as number, stream_sequence: expect.any(Number) as number },
      policy_version: expect.stringMatching(/^p[0-9a-f]{32}$/) as string,
    })
    expect(settled.body).not.toHaveProperty('price_usd')
    const computed = await api.get(`/v1/quote/token/${CHAIN_ID}/${chain.token('IDLE')}?max_age_ms=0`)
    expect(computed.body).toMatchObject({ state: 'UNPRICED', source: 'COMPUTED', last_priced: null })
  })

  it('labels of feed health and of state are those of the specification', async () => {
    const { body } = await api.get(`/v1/chains/${CHAIN_ID}/health`)
    expect(['HEALTHY', 'DEGRADED', 'GAP', 'UNAVAILABLE']).toContain((body as Body)['status'])
    const pools = (await api.get('/v1/pools?limit=1')).body as { pools: { state: { finality: string } }[] }
    expect(['unverified', 'canonical', 'finalized']).toContain(pools.pools[0]?.state.finality)
  })
})

describe('R-http-2: endpoints', () => {
  it('R-http-1: all need authentication', async () => {
    for (const [path, operations] of Object.entries(api.document.paths)) {
      if (!path.startsWith('/v1/')) continue
      for (const method of Object.keys(operations)) {
        const concrete = path.replace(/\{[a-z_]+\}/g, '1')
        const { status } = await api.ask(concrete, { method: method.toUpperCase() })
        expect([method, path, status]).toEqual([method, path, 401])
      }
    }
  })

  it('GET /v1/chains: a list of supported chains', async () => {
    const { body } = await api.get('/v1/chains')
    expect(body).toMatchObject({ chains: [{ chain_id: CHAIN_ID, name: 'Test chain' }] })
  })

  it('GET /v1/tokens with chain_id: the known tokens of that chain', async () => {
    const { body } = await api.get(`/v1/tokens?chain_id=${CHAIN_ID}&limit=2`)
    const { tokens } = body as { tokens: { chain_id: number; token_address: string }[] }
    expect(tokens).toHaveLength(2)
    for (const token of tokens) expect(token.chain_id).toBe(CHAIN_ID)
  })

  it('GET /v1/search with address: known chain, token and pool records that match', async () => {
    const moth = chain.token('MOTH')
    expect((await api.get(`/v1/search?address=${moth}`)).body).toMatchObject({
      chains: [{ chain_id: CHAIN_ID }],
      tokens: [{ token_address: moth }],
      pools: [],
    })
    const pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    expect((await api.get(`/v1/search?address=${pool}`)).body).toMatchObject({
      tokens: [],
      pools: [{ pool_address: pool }],
    })
    expect((await api.get(`/v1/search?address=${NOBODY}`)).body).toEqual({
      chains: [],
      tokens: [],
      pools: [],
    })
  })

  it('R-http-3: GET /v1/pools: keyset-paginated, every page carries snapshot_sequence', async () => {
    let cursor: string | null = ''
    let pages = 0
    while (cursor !== null) {
      const { body } = await api.get(`/v1/pools?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)
      const page = body as { next_cursor: string | null; snapshot_sequence: number; pools: unknown[] }
      expect(page.snapshot_sequence).toBeGreaterThan(0)
      cursor = page.next_cursor
      pages += 1
    }
    expect(pages).toBeGreaterThan(1)
  })

  it('GET /v1/pools/{chain_id}/{pool_address}: one pool with its latest verified state', async () => {
    const pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    const { body } = await api.get(`/v1/pools/${CHAIN_ID}/${pool}`)
    expect(body).toMatchObject({ pool_address: pool, state: { reserves: await chain.reserves(pool) } })
  })

  it('GET …/events: recent events of the pool', async () => {
    const pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    await service.untilTip(await chain.run(chain.sellV2(pool, 'MOTH', 50)))
    const { body } = await api.get(`/v1/pools/${CHAIN_ID}/${pool}/events?limit=2`)
    const { events } = body as { events: { kind: string }[] }
    expect(events.map(event => event.kind)).toContain('SWAP')
  })

  it('GET /v1/quote/pool: a pool-level quote with evidence', async () => {
    const pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    const { body } = await api.get(`/v1/quote/pool/${CHAIN_ID}/${pool}`)
    expect(body).toMatchObject({
      pool_address: pool,
      source: 'COMPUTED',
      state: { evidence: { kind: expect.stringMatching(/_SWAP$/) as string } },
    })
  })

  it('GET /v1/quote/token: a routed USD quote; an Accept: application/json header may be sent', async () => {
    const moth = chain.token('MOTH')
    const answer = await api.get(quotePath(moth), { headers: { accept: 'application/json' } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.body).toMatchObject({ state: 'PRICED', routes: [{ selected: true }] })
  })

  it('GET /v1/chains/{chain_id}/health: the latest feed-health snapshot', async () => {
    const { body } = await api.get(`/v1/chains/${CHAIN_ID}/health`)
    const { endpoints } = body as { endpoints: { name: string }[] }
    expect(endpoints.map(endpoint => endpoint.name)).toEqual(['world', 'world-http'])
    expect(JSON.stringify(body)).not.toContain('127.0.0.1')
  })

  it('R-session-1: POST /v1/session: no body, a session and a resume_cursor', async () => {
    const key = await service.key()
    const { body } = await api.ask(`/v1/session?chain_id=${CHAIN_ID}`, { method: 'POST', key })
    expect(body).toMatchObject({ resume_cursor: expect.any(String) as string })
  })

  it('R-session-1, R-session-2: the session needs a bearer or a session cookie; its cookie is secure, HTTP-only, same-origin', async () => {
    expect((await api.ask('/v1/session', { method: 'POST' })).status).toBe(401)
    const { answer, cookie } = await session(await service.key())
    expect(answer.headers.get('set-cookie')).toMatch(
      /^assay_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
    const again = await api.ask('/v1/session', { method: 'POST', headers: { cookie, origin: origin() } })
    expect(again.status).toBe(200)
    expect(again.headers.get('set-cookie')).toBeNull()
    expect((await api.ask('/v1/chains', { headers: { cookie } })).status).toBe(200)
    const stream = await opened(service.url, { headers: { cookie, origin: origin() } })
    await stream.end()
  })

  it('R-session-1: the cursor is chain-wide and positioned after the given snapshot_sequence', async () => {
    const key = await service.key()
    const head = await service.head()
    const path = `/v1/session?chain_id=${CHAIN_ID}&snapshot_sequence=${head}`
    const { body } = await api.ask(path, { method: 'POST', key })
    const stream = await opened(service.url, { headers: bearer(key) })
    stream.send({
      filter: { chain_ids: [CHAIN_ID], pool_ids: [], token_ids: [] },
      resume_cursor: (body as Body)['resume_cursor'],
    })
    await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDT', 'MOTH'), 'MOTH', 30))
    const first = await until('a record after it', () => stream.frames[0])
    expect((JSON.parse(first) as { stream_sequence: number }).stream_sequence).toBe(head + 1)
    await stream.end()
  })

  it('R-admin-1: admin endpoints exist and are allowlist-gated', async () => {
    const key = await service.key(['admin'])
    expect((await api.ask('/v1/admin/retention', { key })).status).toBe(200)
    const spoofed = { 'x-forwarded-for': '127.0.0.1' }
    expect((await api.ask('/v1/admin/retention', { key, headers: spoofed })).status).toBe(403)
  })
})

describe('authentication', () => {
  it('R-access-1: an operator-issued key as a bearer credential', async () => {
    expect((await api.get('/v1/chains')).status).toBe(200)
  })

  it('R-access-1: a key never goes into a URL', async () => {
    const key = await service.key()
    expect((await api.ask(`/v1/chains?api_key=${key}`, { key })).status).toBe(401)
  })

  it('R-access-3, R-limit-1: a session cookie authenticates later requests and shares the bucket of its bearer', async () => {
    const key = await frugalKey(service, 60)
    const { cookie } = await session(key)
    const left = async (headers: Record<string, string>) =>
      Number(/r=(\d+)/.exec((await api.ask('/v1/chains', { headers })).headers.get('ratelimit') ?? '')?.[1])
    // The session was the first of sixty.
    expect(await left({ cookie })).toBe(58)
    expect(await left(bearer(key))).toBe(57)
    expect(await left({ cookie })).toBe(56)
  })

  it('R-stream-1: the handshake is authenticated by the bearer header or a valid same-origin session cookie', async () => {
    const key = await service.key()
    const { cookie } = await session(key)
    for (const headers of [bearer(key), { cookie, origin: origin() }]) {
      const stream = await handshake(service.url, { headers })
      expect(stream).toBeInstanceOf(RawSocket)
      if (stream instanceof RawSocket) await stream.end()
    }
    const foreign = await handshake(service.url, { headers: { cookie, origin: 'https://elsewhere.test' } })
    expect(foreign).toMatchObject({ status: 403, text: '' })
  })

  it('R-access-1: there is no self-service signup: only an operator issues keys', async () => {
    const body = { consumer: 'me', name: 'mine', scopes: ['read'] }
    expect((await api.post('/v1/admin/keys', body)).status).toBe(403)
  })

  it('R-error-3: 401 for a missing, invalid, expired or revoked credential; 403 for one that may not', async () => {
    expect((await api.ask('/v1/chains')).status).toBe(401)
    expect((await api.ask('/v1/chains', { key: 'assay_no' })).status).toBe(401)
    const { access } = service.service
    const { key: expired } = await access.issue('e', 'e', ['read'], Date.now() - 1)
    expect((await api.ask('/v1/chains', { key: expired })).status).toBe(401)
    const { key: revoked, keyId } = await access.issue('r', 'r', ['read'], null)
    expect((await api.ask('/v1/chains', { key: revoked })).status).toBe(200)
    await access.revoke(keyId)
    expect((await api.ask('/v1/chains', { key: revoked })).status).toBe(401)
    expect((await api.get('/v1/chains', { key: await service.key(['stream']) })).status).toBe(403)
  })
})

describe('errors', () => {
  it('R-error-1: a non-quote error is an object with one string field, error', async () => {
    const { status, body } = await api.get('/v1/tokens?chain_id=x')
    expect([status, Object.keys(body as object)]).toEqual([400, ['error']])
  })

  it('R-error-2: a quote error has code, message and detail', async () => {
    const { status, body } = await api.get(quotePath('0x12'))
    expect([status, Object.keys(body as object)]).toEqual([400, ['code', 'message', 'detail']])
  })

  it.each([
    ['INVALID_PARAMS', () => quotePath(chain.token('MOTH'), '?max_hops=9')],
    ['INVALID_ADDRESS', () => quotePath('0x12')],
    ['UNSUPPORTED_CHAIN', () => `/v1/quote/token/137/${chain.token('MOTH')}`],
    ['NOT_A_POOL', () => `/v1/quote/pool/${CHAIN_ID}/${chain.token('MOTH')}`],
    [
      'NO_ROUTE',
      () => quotePath(chain.token('MOTH'), `?exclude_pools=${chain.pool('uniswap-v2', 'USDT', 'MOTH')}`),
    ],
  ] as const)('R-error-2: %s has its status', async (code, path) => {
    const { status, body } = await api.get(path())
    expect([status, (body as Body)['code']]).toEqual([QUOTE_ERRORS[code].status, code])
  })

  it('R-error-2: TOKEN_UNKNOWN 404, once it is known that there is no token', async () => {
    const { first, settled } = await enrolled(NOBODY)
    expect(first.status).toBe(202)
    expect([settled.status, (settled.body as Body)['code']]).toEqual([404, 'TOKEN_UNKNOWN'])
  })

  it('R-error-3: 429 with an empty body and a numeric Retry-After; limiting is isolated per consumer', async () => {
    const key = await frugalKey(service, 60)
    const other = await service.key()
    const statuses = await Promise.all(
      Array.from({ length: 80 }, async () => (await api.ask('/v1/chains', { key })).status),
    )
    expect(statuses.filter(status => status === 429)).toHaveLength(20)
    expect((await api.ask('/v1/chains', { key: other })).status).toBe(200)
  })
})
