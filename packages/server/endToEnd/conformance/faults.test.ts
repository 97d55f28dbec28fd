/** The H rows of the fault list, by their ids: bad input and bad manners at the HTTP door of a running service. */
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { issueKey } from '../../access/apiKey.ts'
import { sealPage } from '../../http/plumbing/pageCursor.ts'
import { CANARY } from '../testing/canary.ts'
import { handshake } from '../testing/handshake.ts'
import { CHAIN_ID, planWith } from '../testing/plan.ts'
import { chain, serveChain, service } from '../testing/servedChain.ts'
import { DescribedApi } from './describedApi.ts'

let api: DescribedApi
serveChain(planWith(), { tokens: ['MOTH'] })
beforeAll(async () => {
  api = await DescribedApi.of(service)
  api.secrets.push(CANARY)
})

/** Bytes as they are, and what came back until the other side closed. */
function raw(bytes: readonly string[], paceMs = 0): Promise<{ readonly text: string }> {
  const { hostname, port } = new URL(service.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    let next = 0
    const drip = setInterval(
      () => {
        const part = bytes[next++]
        if (part === undefined || socket.destroyed) clearInterval(drip)
        else socket.write(part)
      },
      Math.max(1, paceMs),
    )
    socket.setEncoding('latin1')
    socket.on('data', (part: string) => {
      text += part
    })
    // The other side may hang up in the middle of what is sent.
    socket.on('error', failure =>
      'code' in failure && ['ECONNRESET', 'EPIPE'].includes(String(failure.code))
        ? undefined
        : reject(failure),
    )
    socket.on('close', () => {
      clearInterval(drip)
      resolve({ text })
    })
  })
}

describe('H1: headers dripped, idle sockets', () => {
  it('both are closed with 408', async () => {
    const drops = Array.from('GET /v1/chains HTTP/1.1\r\nHost: x\r\nX-A: '.padEnd(200, 'a'))
    const [dripped, idle] = await Promise.all([raw(drops, 100), raw([])])
    for (const { text } of [dripped, idle]) expect(text).toMatch(/^HTTP\/1\.1 408 /)
  })
})

describe('H3: bodies', () => {
  const post = async (
    headers: Record<string, string>,
    body: string | Buffer<ArrayBuffer>,
    path = '/v1/quote/tokens',
  ) =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await service.key()}`, ...headers },
      body,
    })
  const json = { 'content-type': 'application/json' }

  it('R-http-4: over 64 KiB for a batch, and over 16 KiB elsewhere, is 413', async () => {
    expect((await post(json, ' '.repeat(65 * 1024))).status).toBe(413)
    expect((await post(json, ' '.repeat(17 * 1024), '/v1/session')).status).toBe(413)
  })

  it('nested as deep as its size allows is 400', async () => {
    for (const body of [
      '['.repeat(32_000) + ']'.repeat(32_000),
      `{"tokens":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
      `{"tokens":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}`,
    ])
      expect((await post(json, body)).status).toBe(400)
  })

  it('compressed is 415, however small it compresses', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    expect((await post({ ...json, 'content-encoding': 'gzip' }, bomb)).status).toBe(415)
  })

  it('of another type is 415, of none too', async () => {
    for (const type of [
      'text/plain',
      'application/xml',
      'application/jsonx',
      'multipart/form-data; boundary=x',
    ])
      expect([type, (await post({ 'content-type': type }, '{}')).status]).toEqual([type, 415])
  })

  it('chunked without end is ended by size or by time', async () => {
    const key = await service.key()
    const head = `POST /v1/quote/tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`
    const { text } = await raw([head, ...Array.from({ length: 8 }, () => chunk)], 5)
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('that is not HTTP is 400, and headers past 16 KiB are 431', async () => {
    expect((await raw(['\x16\x03\x01\x02\x00\x01\r\n\r\n'])).text).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error"/)
    const large = `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(17 * 1024)}\r\n\r\n`
    expect((await raw([large])).text).toMatch(/^HTTP\/1\.1 431 [\s\S]*"error"/)
  })

  it('a URL past 8 KiB is 414', async () => {
    expect((await api.get(`/v1/chains?x=${'a'.repeat(9000)}`)).status).toBe(414)
  })
})

describe('H4: query', () => {
  it.each([
    '-1',
    '1e309',
    '1e3',
    '٣',
    '１',
    '0x10',
    ' 1',
    '1 ',
    '+1',
    '1.0',
    'NaN',
    '',
    'Infinity',
    '[1]',
    '01',
  ])('limit=%s is 400 and names the field', async text => {
    const { status, body } = await api.get(`/v1/pools?limit=${encodeURIComponent(text)}`)
    expect([status, (body as { error: string }).error]).toEqual([
      400,
      `limit is ${JSON.stringify(text)}; expected an integer from 1 to 1000`,
    ])
  })

  it('arrays, repeats, unknown names and too many ids are 400', async () => {
    const moth = `/v1/quote/token/${CHAIN_ID}/${chain.token('MOTH')}`
    for (const path of [
      '/v1/pools?limit[]=1',
      '/v1/pools?limit=1&limit=2',
      '/v1/pools?__proto__=1',
      '/v1/tokens?chain_id=1&chain_id=1',
      `${moth}?exclude_pools=${Array.from({ length: 51 }, () => chain.token('MOTH')).join(',')}`,
      `${moth}?exclude_pools=,`,
    ])
      expect([path, (await api.get(path)).status]).toEqual([path, 400])
  })
})

describe('H5: page cursors', () => {
  it('forged, cut, or of another query are 400', async () => {
    const { next_cursor: own } = (await api.get('/v1/pools?limit=1')).body as { next_cursor: string }
    const forged = sealPage(new Uint8Array(32), 'pools  ', [1, chain.token('MOTH')])
    for (const cursor of [forged, own.slice(0, -3), `A${own.slice(1)}B`, '', 'null', '%00'])
      expect([cursor, (await api.get(`/v1/pools?limit=1&cursor=${cursor}`)).status]).toEqual([cursor, 400])
    expect((await api.get(`/v1/tokens?chain_id=1&limit=1&cursor=${own}`)).status).toBe(400)
    expect((await api.get(`/v1/pools?limit=1&cursor=${own}`)).status).toBe(200)
  })
})

describe('H8: keys', () => {
  it('missing, malformed, mistyped, unknown, revoked, expired, in the URL: the same 401', async () => {
    const { access } = service.service
    const good = await service.key()
    const { key: revoked, keyId } = await access.issue('r', 'h8', ['read'], null)
    await access.revoke(keyId)
    const { key: expired } = await access.issue('e', 'h8', ['read'], 1)
    const headers = (key: string) => ({ authorization: `Bearer ${key}` })
    for (const given of [
      {},
      headers('x'),
      headers(`${good}0`),
      headers(issueKey().key),
      headers(revoked),
      headers(expired),
    ])
      expect((await api.ask('/v1/chains', { headers: given })).status).toBe(401)
    expect((await api.ask(`/v1/chains?k=${good}`, { key: good })).status).toBe(401)
    expect(service.faults.join('\n')).not.toContain(good)
  })
})

describe('H13 and H15: cookies', () => {
  it('a foreign, null or sub-domain Origin is 403 before the upgrade', async () => {
    const made = await api.ask('/v1/session', { method: 'POST', key: await service.key() })
    const cookie = (made.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    for (const origin of [
      'https://evil.test',
      'null',
      'http://sub.localhost:1',
      'http://localhost.evil.test',
    ])
      expect(await handshake(service.url, { headers: { cookie, origin } })).toMatchObject({
        status: 403,
        text: '',
      })
  })

  it('a session id is always new, and dead after logout, also for two at once', async () => {
    const key = await service.key()
    const planted = `assay_session=${'A'.repeat(43)}`
    const made = await api.ask('/v1/session', { method: 'POST', key, headers: { cookie: planted } })
    const cookie = (made.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    expect(cookie).not.toBe(planted)
    const out = () => api.ask('/v1/session', { method: 'DELETE', headers: { cookie, origin: service.url } })
    const statuses = (await Promise.all([out(), out()])).map(answer => answer.status)
    expect(statuses).toContain(204)
    expect((await api.ask('/v1/chains', { headers: { cookie } })).status).toBe(401)
  })
})

describe('H16: leaks', () => {
  it('no answer and no log line of this suite holds the secret of an endpoint, a key or a stack', async () => {
    for (const path of [
      '/v1/chains',
      `/v1/chains/${CHAIN_ID}/health`,
      '/v1/pools/1/%ff',
      '/v1/%00',
      '/v1/quote/token/1/%zz',
    ]) {
      const { text } = await api.get(path)
      expect(text).not.toMatch(/node_modules|\.ts:\d|    at /)
    }
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).not.toContain(CANARY)
    expect(service.faults.join('\n')).not.toMatch(
      new RegExp(`${CANARY}|assay_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}`),
    )
  })
})

// Last: it uses up what this address may fail.
describe('H9 and H10: brute force and bursts', () => {
  it('after ten failures a minute an address gets 429, and valid keys are unaffected', async () => {
    const bad = { headers: { authorization: `Bearer ${issueKey().key}` } }
    const statuses: number[] = []
    for (let n = 0; n < 20; n++) statuses.push((await api.ask('/v1/chains', bad)).status)
    expect(statuses).toContain(429)
    expect((await api.get('/v1/chains')).status).toBe(200)
  })

  it('a thousand at once get the burst and the units earned meanwhile, no more', async () => {
    const key = await service.key()
    const startMs = performance.now()
    const statuses: number[] = []
    // Over a hundred connections: a thousand would be a test of how fast this machine opens them.
    const lane = async () => {
      for (let n = 0; n < 10; n++) statuses.push((await api.ask('/v1/session', { key })).status)
    }
    await Promise.all(Array.from({ length: 100 }, lane))
    const earned = Math.ceil((performance.now() - startMs) / 100)
    const passed = statuses.filter(status => status !== 429).length
    expect(passed).toBeGreaterThanOrEqual(60)
    expect(passed).toBeLessThanOrEqual(60 + earned)
  })
})
