import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { issueKey } from '../access/apiKey.ts'
import { FailureThrottle } from '../access/failureThrottle.ts'
import { type Answer, ask, type Asking } from './testing/answer.ts'
import { freePort } from './testing/childService.ts'
import { handshake, opened, RawSocket, refused } from './testing/handshake.ts'
import { CHAIN_ID, planWith } from './testing/plan.ts'
import { StoppedClock } from './testing/testClock.ts'
import { startTestChain, type TestChain } from './testing/testChain.ts'
import { openTestService, type TestService } from './testing/testService.ts'

const clock = new StoppedClock()
const BURST = 60
const PER_SECOND = 10

let chain: TestChain
let service: TestService
beforeAll(async () => {
  // What is asked for here needs no price.
  chain = await startTestChain({ ...planWith(), pools: [] })
  service = await openTestService(chain, { clock })
})
afterAll(async () => {
  await service?.close()
  await chain?.close()
})
// Failures of one test do not throttle the next.
beforeEach(() => clock.advance(120_000))

const get = (path: string, asking?: Asking): Promise<Answer> => ask(`${service.url}${path}`, asking)
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

function expectRefused(answer: Answer, status: number): void {
  expect([answer.status, answer.text]).toEqual([status, ''])
  expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
}

describe('a request without a valid credential', () => {
  const unknown = issueKey().key
  const flipped = (key: string) => `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`

  it.each([
    ['nothing', () => ({})],
    ['another scheme', (key: string) => ({ authorization: `Basic ${key}` })],
    ['an empty bearer', () => ({ authorization: 'Bearer' })],
    ['two words', (key: string) => ({ authorization: `Bearer ${key} ${key}` })],
    ['a key of another shape', () => bearer('sk-1234567890')],
    ['a key with a wrong checksum', (key: string) => bearer(flipped(key))],
    ['a key that was never issued', () => bearer(unknown)],
    ['a cookie that was never issued', () => ({ cookie: `assay_session=${'x'.repeat(43)}` })],
  ])('with %s is refused with 401, an empty body and WWW-Authenticate', async (_, headersFor) => {
    const headers = headersFor(await service.key())
    expectRefused(await get('/v1/chains', { headers }), 401)
    const handshaken = await refused(service.url, { headers })
    expect([handshaken.status, handshaken.text]).toEqual([401, ''])
    expect(handshaken.headers['www-authenticate']).toBe('Bearer')
  })

  it('is refused however the path is written', async () => {
    for (const path of [
      '/%761/chains',
      '/v%31/chains',
      '/v1/%63hains',
      '/%76%31/%70ools',
      '/v1/quote%2ftoken/1/0x',
    ])
      expect([path, (await get(path)).status]).toEqual([path, expect.toBeOneOf([401, 404])])
    expectRefused(await get('/%761/chains'), 401)
  })

  it('with a revoked key is refused within five seconds, and its stream is closed with 1008', async () => {
    const { key, keyId } = await service.service.access.issue(
      'to revoke',
      'revoked',
      ['read', 'stream'],
      null,
    )
    expect((await get('/v1/chains', { key })).status).toBe(200)
    const stream = await opened(service.url, { headers: bearer(key) })
    stream.send({ filter: { chain_ids: [CHAIN_ID] }, resume_cursor: null })
    await service.store.revokeKey(keyId, clock.nowMs())
    clock.advance(5000)
    expectRefused(await get('/v1/chains', { key }), 401)
    expect(await stream.untilClosed()).toEqual({
      code: 1008,
      reason: 'the credential was revoked or has expired',
    })
  })

  it('with an expired key is refused from the moment it expires', async () => {
    const expiresAtMs = clock.nowMs() + 10_000
    const { key } = await service.service.access.issue('to expire', 'expired', ['read'], expiresAtMs)
    clock.advance(9999)
    expect((await get('/v1/chains', { key })).status).toBe(200)
    clock.advance(1)
    expectRefused(await get('/v1/chains', { key }), 401)
  })

  it('with a key in the URL is refused, even with a valid one in the header, and the key is not echoed', async () => {
    const key = await service.key()
    for (const path of [
      `/v1/chains?key=${key}`,
      `/v1/chains?api_key=${key.replaceAll('_', '%5F')}`,
      `/v1/pools/1/${key}`,
      `/v1/nowhere/${key}`,
    ]) {
      expectRefused(await get(path), 401)
      expectRefused(await get(path, { key }), 401)
    }
    const answer = await refused(service.url, { headers: bearer(key) }, `/v1/stream?key=${key}`)
    expect([answer.status, answer.text]).toEqual([401, ''])
  })

  it('R-access-3: beside a valid cookie is refused when its bearer is invalid: the bearer alone counts', async () => {
    const { cookie } = await session(await service.key())
    expect((await get('/v1/session', { headers: { cookie } })).status).toBe(200)
    expectRefused(await get('/v1/session', { headers: { cookie, ...bearer(unknown) } }), 401)
  })
})

describe('a key without the scope', () => {
  it.each([
    ['stream', '/v1/chains', 403],
    ['stream', '/v1/quote/token/1/0x', 403],
    ['stream', '/v1/pools?limit=1', 200],
    ['stream', '/v1/pools/1/0x', 403],
    ['admin', '/v1/chains', 403],
    ['admin', '/v1/pools', 403],
    ['read', '/v1/admin/keys', 403],
    ['read', '/v1/pools', 200],
  ] as const)('R-access-2: %s asking for %s gets %i', async (scope, path, status) => {
    const answer = await get(path, { key: await service.key([scope]) })
    if (status === 403) expectRefused(answer, 403)
    expect(answer.status).toBe(status)
  })

  it('stream opens the stream and sessions, read only sessions, admin neither', async () => {
    for (const [scope, handshaken, posted] of [
      ['stream', 101, 200],
      ['read', 403, 200],
      ['admin', 403, 403],
    ] as const) {
      const key = await service.key([scope])
      const result = await handshake(service.url, { headers: bearer(key) })
      if (result instanceof RawSocket) await result.end()
      else expect([result.status, result.text]).toEqual([403, ''])
      expect(result instanceof RawSocket ? 101 : result.status).toBe(handshaken)
      expect((await get('/v1/session', { key, method: 'POST' })).status).toBe(posted)
    }
  })
})

describe('the rate limit', () => {
  const flood = async (requests: number, asking: Asking, path = '/v1/session') => {
    const answers = await Promise.all(Array.from({ length: requests }, () => get(path, asking)))
    const refusals = answers.filter(answer => answer.status === 429)
    for (const answer of refusals) expect(answer.text).toBe('')
    return { passed: answers.length - refusals.length, refusals }
  }

  it('admits the burst and then the quota, never more, and gives the time to wait', async () => {
    const key = await service.key()
    let passed = (await flood(BURST + 20, { key })).passed
    expect(passed).toBe(BURST)
    for (let second = 1; second <= 6; second++) {
      clock.advance(1000)
      passed += (await flood(PER_SECOND + 10, { key })).passed
      expect(passed).toBe(BURST + PER_SECOND * second)
    }
    const { refusals } = await flood(1, { key })
    const waitS = refusals[0]?.headers.get('retry-after') ?? ''
    expect(waitS).toMatch(/^[1-9][0-9]*$/)
    clock.advance(Number(waitS) * 1000)
    expect((await flood(1, { key })).passed).toBe(1)
  })

  it('R-wire-5: is reported in the headers of every response', async () => {
    const key = await service.key()
    const { headers } = await get('/v1/chains', { key })
    expect(headers.get('ratelimit-policy')).toBe('"default";q=600;w=60')
    expect(headers.get('ratelimit')).toBe(`"default";r=${BURST - 1};t=1`)
    const refusal = (await flood(BURST + 1, { key })).refusals[0]
    expect(refusal?.headers.get('ratelimit-policy')).toBe('"default";q=600;w=60')
    expect(refusal?.headers.get('ratelimit')).toBe('"default";r=0;t=1')
  })

  it('R-limit-2: charges a request one unit, a thousand rows one more, and computing ten', async () => {
    const key = await service.key()
    const left = async (path: string) =>
      Number(/;r=(\d+);/.exec((await get(path, { key })).headers.get('ratelimit') ?? '')?.[1])
    expect(await left('/v1/chains')).toBe(BURST - 1)
    expect(await left('/v1/pools?limit=999')).toBe(BURST - 2)
    expect(await left('/v1/pools?limit=1000')).toBe(BURST - 4)
    expect(await left(`/v1/tokens?chain_id=${CHAIN_ID}&limit=1000`)).toBe(BURST - 6)
    expect(await left(`/v1/quote/pool/${CHAIN_ID}/0x${'12'.repeat(20)}`)).toBe(BURST - 16)
  })

  it('is shared by all keys, sessions and streams of a consumer, and does not affect others', async () => {
    const [key, other] = [
      await service.key(['read', 'stream'], 'shared'),
      await service.key(['read'], 'shared'),
    ]
    const { cookie } = await session(key)
    expect((await flood(20, { key })).passed).toBe(20)
    expect((await flood(20, { key: other })).passed).toBe(20)
    expect((await flood(30, { headers: { cookie } })).passed).toBe(BURST - 1 - 40)
    for (const asking of [{ key }, { key: other }, { headers: { cookie } }])
      expect((await flood(1, asking)).passed).toBe(0)
    const handshaken = await refused(service.url, { headers: bearer(key) })
    expect([handshaken.status, handshaken.text]).toEqual([429, ''])
    expect(handshaken.headers['retry-after']).toMatch(/^[1-9][0-9]*$/)
    expect((await flood(1, { key: await service.key() })).passed).toBe(1)
  })

  it('is not spent by unauthenticated requests', async () => {
    const key = await service.key()
    await flood(30, { key: issueKey().key })
    expect((await flood(BURST + 1, { key })).passed).toBe(BURST)
  })

  it('allows a consumer twenty streams', async () => {
    const key = await service.key()
    const streams: RawSocket[] = []
    for (let n = 0; n < 20; n++) streams.push(await opened(service.url, { headers: bearer(key) }))
    const answer = await refused(service.url, { headers: bearer(key) })
    expect([answer.status, answer.text, answer.headers['retry-after']]).toEqual([429, '', '1'])
    await Promise.all(streams.map(stream => stream.end()))
    await (await opened(service.url, { headers: bearer(key) })).end()
  })
})

describe('failed credentials', () => {
  it('are ten a minute and then 429, while a valid key still works and a missing one stays 401', async () => {
    const key = await service.key()
    const fail = () => get('/v1/chains', { key: issueKey().key })
    for (let n = 0; n < 10; n++) expectRefused(await fail(), 401)
    const refusal = await fail()
    expectRefused(refusal, 429)
    expect(refusal.headers.get('retry-after')).toBe('6')
    const handshaken = await refused(service.url, { headers: bearer(issueKey().key) })
    expect([handshaken.status, handshaken.headers['retry-after']]).toEqual([429, '6'])
    expect((await get('/v1/chains', { key })).status).toBe(200)
    expectRefused(await get('/v1/chains'), 401)
    clock.advance(6000)
    expectRefused(await fail(), 401)
    expectRefused(await fail(), 429)
  })

  it('are counted by address: a /64 for IPv6, each address for IPv4 however it is written', () => {
    const throttle = new FailureThrottle(clock)
    const fill = (address: string) => {
      for (let n = 0; n < 10; n++) throttle.fail(address)
    }
    fill('2001:db8:1:2::7')
    expect(throttle.fail('2001:db8:1:2:ffff::1')).toBe(6000)
    expect(throttle.fail('2001:db8:1:3::1')).toBeNull()
    fill('192.0.2.1')
    expect(throttle.fail('192.0.2.2')).toBeNull()
    // A socket that listens on both families sees IPv4 like this.
    expect(throttle.fail('::ffff:192.0.2.1')).toBe(6000)
    expect(throttle.fail('::ffff:192.0.2.3')).toBeNull()
  })
})

type SessionBody = {
  readonly session: { readonly expires_at_ms: number }
  readonly resume_cursor: string | null
}

async function session(key: string, path = '/v1/session') {
  const answer = await get(path, { key, method: 'POST' })
  const set = answer.headers.get('set-cookie') ?? ''
  return { set, cookie: set.split(';')[0] ?? '', body: answer.body as SessionBody, answer }
}

describe('a session', () => {
  it('is a cookie that only this origin’s pages send and no script reads', async () => {
    const { set, body } = await session(await service.key())
    const [pair, ...attributes] = set.split('; ')
    expect(pair).toMatch(/^assay_session=[0-9A-Za-z]{43}$/)
    expect(attributes.sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure'])
    expect(body).toEqual({
      session: { expires_at_ms: clock.nowMs() + 12 * 3_600_000 },
      resume_cursor: null,
      cursor_expires_at_ms: null,
      schema_version: 1,
      stream: { oldest_sequence: expect.any(Number), head_sequence: expect.any(Number) },
    })
  })

  it('over https is bound to the host by its name, and only the public origin is same-origin', async () => {
    const port = await freePort()
    const secure = await openTestService(chain, {
      name: 'secure',
      publicOrigin: 'https://prices.example',
      port,
      clock,
    })
    try {
      const key = await secure.key()
      const answer = await ask(`${secure.url}/v1/session`, { key, method: 'POST' })
      const set = answer.headers.get('set-cookie') ?? ''
      expect(set).toMatch(/^__Host-assay_session=[0-9A-Za-z]{43}; /)
      expect(set.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure'])
      const cookie = set.split(';')[0] ?? ''
      for (const origin of ['http://prices.example', 'https://prices.example.evil', secure.url, 'null'])
        expect((await refused(secure.url, { headers: { cookie, origin } })).status).toBe(403)
      await (await opened(secure.url, { headers: { cookie, origin: 'https://prices.example' } })).end()
    } finally {
      await secure.close()
    }
  })

  it('opens the stream from our own pages only', async () => {
    const { cookie } = await session(await service.key())
    for (const origin of [
      'null',
      'https://evil.example',
      'http://localhost.evil.example',
      'http://127.0.0.1.evil',
      'http://user@localhost',
      'http://localhost',
      'http://localhost:5173',
      `${service.url}0`,
    ]) {
      const answer = await refused(service.url, { headers: { cookie, origin } })
      expect([origin, answer.status, answer.text]).toEqual([origin, 403, ''])
    }
    expect((await refused(service.url, { headers: { cookie } })).status).toBe(403)
    // The Host header decides nothing.
    expect(
      (
        await refused(service.url, {
          headers: { cookie, origin: 'https://evil.example', host: 'evil.example' },
        })
      ).status,
    ).toBe(403)
    const { port } = new URL(service.url)
    for (const origin of [service.url, `http://localhost:${port}`, `http://[::1]:${port}`])
      await (await opened(service.url, { headers: { cookie, origin } })).end()
  })

  it('keeps its end when a cursor is requested, and changes nothing for a foreign page', async () => {
    const { cookie, body } = await session(await service.key())
    clock.advance(60_000)
    const url = `/v1/session?chain_id=${CHAIN_ID}`
    expectRefused(await get(url, { method: 'POST', headers: { cookie } }), 403)
    expectRefused(
      await get(url, { method: 'POST', headers: { cookie, origin: 'https://evil.example' } }),
      403,
    )
    const renewed = await get(url, { method: 'POST', headers: { cookie, origin: service.url } })
    expect(renewed.headers.get('set-cookie')).toBeNull()
    expect(renewed.body).toMatchObject({ session: body.session, resume_cursor: expect.any(String) })
    expect((await get('/v1/session', { headers: { cookie } })).body).toEqual({
      session: body.session,
      scopes: ['read', 'stream'],
      consumer: expect.any(String),
    })
  })

  it('ends with DELETE, and its stream with it', async () => {
    const { cookie } = await session(await service.key())
    const stream = await opened(service.url, { headers: { cookie, origin: service.url } })
    stream.send({ filter: { chain_ids: [CHAIN_ID] }, resume_cursor: null })
    expectRefused(await get('/v1/session', { method: 'DELETE', headers: { cookie } }), 403)
    const ended = await get('/v1/session', { method: 'DELETE', headers: { cookie, origin: service.url } })
    expect([ended.status, ended.text]).toEqual([204, ''])
    expect(ended.headers.get('set-cookie')).toMatch(/^assay_session=; .*Max-Age=0/)
    expectRefused(await get('/v1/session', { headers: { cookie } }), 401)
    expect(await stream.untilClosed()).toEqual({
      code: 1008,
      reason: 'the credential was revoked or has expired',
    })
  })

  it('ends after an hour unused, after twelve in any case, and with its key', async () => {
    const key = await service.key()
    const idle = await session(key)
    clock.advance(60 * 60_000 - 1)
    expect((await get('/v1/session', { headers: { cookie: idle.cookie } })).status).toBe(200)
    clock.advance(60 * 60_000)
    expectRefused(await get('/v1/session', { headers: { cookie: idle.cookie } }), 401)
    const used = await session(key)
    for (let hours = 0.5; hours < 12; hours += 0.5) {
      clock.advance(30 * 60_000)
      expect((await get('/v1/session', { headers: { cookie: used.cookie } })).status).toBe(200)
    }
    clock.advance(30 * 60_000)
    expectRefused(await get('/v1/session', { headers: { cookie: used.cookie } }), 401)

    const { key: doomed, keyId } = await service.service.access.issue('doomed', 'doomed', ['read'], null)
    const { cookie } = await session(doomed)
    await service.store.revokeKey(keyId, clock.nowMs())
    expectRefused(await get('/v1/session', { headers: { cookie } }), 401)
  })

  it.each([
    ['snapshot_sequence=1', 400],
    [`chain_id=${CHAIN_ID}&snapshot_sequence=999999999`, 400],
    [`chain_id=${CHAIN_ID}&snapshot_sequence=${2 ** 40 + 1}`, 400],
    [`chain_id=${CHAIN_ID}&snapshot_sequence=-1`, 400],
    ['chain_id=2', 404],
    [`chain_id=${CHAIN_ID}&chain_id=${CHAIN_ID}`, 400],
    ['chain=1', 400],
  ])('requested with %s is a %i that gives the reason, and no session', async (query, status) => {
    const { answer, set } = await session(await service.key(), `/v1/session?${query}`)
    expect([answer.status, Object.keys(answer.body as object), set]).toEqual([status, ['error'], ''])
  })
})
