/** What counts as a credential, whose pages may use a session, and the headers that every answer to one carries. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { address, health, tokenUpsert } from '../../store/testing/drafts.ts'
import { ask } from '../testing/answer.ts'
import { handshake, opened, refused } from '../testing/handshake.ts'
import { openTestApi, type TestApi } from '../testing/testApi.ts'

const ORIGIN = 'https://prices.example'
const TOKEN = address(7)

let plain: TestApi
let secure: TestApi
beforeAll(async () => {
  plain = await openTestApi()
  secure = await openTestApi({ publicOrigin: ORIGIN })
  await plain.commit(1, [health(1, 'HEALTHY'), tokenUpsert({ chainId: 1, recordId: '1-1-1' }, TOKEN, '1.5')])
})
afterAll(async () => {
  await plain?.close()
  await secure?.close()
})

/** A new session's id. */
async function sessionOf({ url }: TestApi, key: string): Promise<string> {
  const answer = await ask(`${url}/v1/session`, { key, method: 'POST' })
  expect(answer.status).toBe(200)
  return /^[^=]+=([^;]+);/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? ''
}

describe('R-session-2: the name of the cookie', () => {
  it.each([
    ['https', () => secure, '__Host-assay_session', 'assay_session', ORIGIN],
    ['loopback http', () => plain, 'assay_session', '__Host-assay_session', null],
  ])('over %s only its own is read', async (_, apiOf, right, wrong, publicOrigin) => {
    const api = apiOf()
    const id = await sessionOf(api, await api.key())
    const origin = publicOrigin ?? api.url
    for (const [cookie, status] of [
      [`${right}=${id}`, 200],
      [`${wrong}=${id}`, 401],
      [`${wrong}=${id}; ${right}=x`, 401],
      [`${wrong}=x; ${right}=${id}`, 200],
    ] as const)
      expect([cookie, (await ask(`${api.url}/v1/session`, { headers: { cookie } })).status]).toEqual([
        cookie,
        status,
      ])
    expect(await handshake(api.url, { headers: { cookie: `${wrong}=${id}`, origin } })).toMatchObject({
      status: 401,
    })
    await (await opened(api.url, { headers: { cookie: `${right}=${id}`, origin } })).end()
  })
})

/** With header lines that may repeat; the status. */
async function statusOf(url: string, lines: readonly string[]): Promise<number> {
  const asking = request(url, { headers: lines })
  asking.end()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  return answer.statusCode ?? 0
}

describe('R-access-3: two Authorization headers', () => {
  it('are 400, whichever is valid, also for a cached quote and for a stream', async () => {
    const key = await plain.key()
    const host = ['Host', new URL(plain.url).host]
    const one = ['Authorization', `Bearer ${key}`]
    const other = ['authorization', 'Bearer other']
    const upgrade = ['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Version', '13']
    const nonce = ['Sec-WebSocket-Key', Buffer.alloc(16).toString('base64')]
    const quote = `${plain.url}/v1/quote/token/1/${TOKEN}`
    for (let n = 0; n < 3; n++) expect(await statusOf(quote, [...host, ...one])).toBe(200)
    for (const path of [`${plain.url}/v1/chains`, quote])
      for (const pair of [
        [...one, ...other],
        [...other, ...one],
        [...one, ...one],
      ])
        expect([path, await statusOf(path, [...host, ...pair])]).toEqual([path, 400])
    const stream = [...host, ...upgrade, ...nonce, ...one, ...other]
    expect(await statusOf(`${plain.url}/v1/stream`, stream)).toBe(400)
  })
})

describe('H20: a page of another port', () => {
  it('is not same-origin: it neither changes anything nor opens a stream with the session', async () => {
    const cookie = `assay_session=${await sessionOf(plain, await plain.key())}`
    const { port } = new URL(plain.url)
    const post = (origin: string) =>
      ask(`${plain.url}/v1/session`, { method: 'POST', headers: { cookie, origin } })
    for (const origin of ['http://127.0.0.1:1', 'http://localhost', `http://localhost:${port}0`]) {
      expect([origin, (await post(origin)).status]).toEqual([origin, 403])
      expect((await refused(plain.url, { headers: { cookie, origin } })).status).toBe(403)
    }
    for (const host of ['localhost', '127.0.0.1', '[::1]'])
      expect((await post(`http://${host}:${port}`)).status).toBe(200)
  })

  it('is recognised by the headers its browser sends, whatever it requests', async () => {
    const cookie = `assay_session=${await sessionOf(plain, await plain.key())}`
    const get = async (site: string) =>
      (await ask(`${plain.url}/v1/chains`, { headers: { cookie, 'sec-fetch-site': site } })).status
    expect([await get('same-site'), await get('cross-site')]).toEqual([403, 403])
    expect([await get('same-origin'), await get('none')]).toEqual([200, 200])
  })
})

describe('R-wire-5: the headers of every response to a credential', () => {
  const CARRIED = {
    'x-request-id': expect.stringMatching(/^\S{8,}$/) as string,
    'ratelimit-policy': expect.stringMatching(/^"default";q=\d+;w=\d+$/) as string,
    ratelimit: expect.stringMatching(/^"default";r=\d+;t=\d+$/) as string,
  }

  it('are on the 101 of a handshake', async () => {
    const authorization = `Bearer ${await plain.key()}`
    const asking = request(`${plain.url}/v1/stream`, {
      headers: {
        authorization,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      },
    })
    asking.end()
    const [answer, socket] = await once(asking, 'upgrade')
    expect((answer as IncomingMessage).statusCode).toBe(101)
    expect((answer as IncomingMessage).headers).toMatchObject(CARRIED)
    ;(socket as { destroy(): void }).destroy()
  })

  it('are on the 403 of a handshake, for its scope and for its origin', async () => {
    const noScope = { authorization: `Bearer ${await plain.key(['read'])}` }
    const cookie = `assay_session=${await sessionOf(plain, await plain.key())}`
    for (const headers of [noScope, { cookie, origin: 'http://127.0.0.1:1' }]) {
      const answer = await refused(plain.url, { headers })
      expect(answer).toMatchObject({ status: 403, text: '', headers: CARRIED })
    }
  })

  it('are on the 200 of server-sent events', async () => {
    const authorization = `Bearer ${await plain.key()}`
    const asking = request(`${plain.url}/v1/stream/sse?chain_ids=1`, { headers: { authorization } })
    asking.end()
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject(CARRIED)
    answer.destroy()
  })
})
