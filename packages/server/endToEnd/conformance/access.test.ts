/** The rules R-session and R-access about sessions and who may reach the service that no other suite has. */
import { statSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { hashOf } from '../../access/apiKey.ts'
import { controlPath } from '../../ops/control.ts'
import { opened } from '../testing/handshake.ts'
import { CHAIN_ID, planWith } from '../testing/plan.ts'
import { StoppedClock } from '../testing/testClock.ts'
import { serveChain, service } from '../testing/servedChain.ts'
import { until } from '../testing/until.ts'
import { DescribedApi } from './describedApi.ts'

const MINUTE_MS = 60_000

const clock = new StoppedClock()
let api: DescribedApi
serveChain(planWith(), { tokens: [], clock })
beforeAll(async () => {
  api = await DescribedApi.of(service)
})

/** The cookie of a new session. */
async function session(key: string): Promise<string> {
  const answer = await api.ask('/v1/session', { method: 'POST', key })
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}
const statusOf = async (cookie: string) => (await api.ask('/v1/session', { headers: { cookie } })).status

describe('R-session-3: sessions', () => {
  it('at most 50 sessions per consumer: another ends the one unused for longest', async () => {
    const key = await service.key(['read'], 'many')
    const cookies: string[] = []
    for (let n = 0; n < 51; n++) {
      clock.advance(1000)
      cookies.push(await session(key))
    }
    const [first, second] = cookies as [string, string]
    expect(await statusOf(first)).toBe(401)
    expect(await statusOf(second)).toBe(200)
    expect(await statusOf(cookies.at(-1) as string)).toBe(200)
  })

  it('a session can only end itself: no key and no other session reaches it', async () => {
    const own = await session(await service.key(['read'], 'one'))
    const key = await service.key(['read'], 'another')
    const foreign = await session(key)
    // By its key, by its key beside the cookie of the first, and by its own session.
    for (const asking of [
      { key },
      { key, headers: { cookie: own, origin: service.url } },
      { headers: { cookie: foreign, origin: service.url } },
    ])
      await api.ask('/v1/session', { method: 'DELETE', ...asking })
    expect(await statusOf(own)).toBe(200)
    expect(await statusOf(foreign)).toBe(401)
  })
})

describe('R-session-2, R-access-5: how it may be reached', () => {
  it('an open stream is activity of its session', async () => {
    const cookie = await session(await service.key())
    const stream = await opened(service.url, { headers: { cookie, origin: service.url } })
    stream.send({
      filter: { chain_ids: [CHAIN_ID], pool_ids: [], token_ids: [] },
      resume_cursor: null,
    })
    const id = hashOf(cookie.split('=')[1] ?? '')
    for (let n = 0; n < 3; n++) {
      clock.advance(40 * MINUTE_MS)
      // The stream is asked about every few seconds, and its session with it.
      await until('the session used', async () => {
        const row = await service.store.readSession(id)
        return row?.lastUsedAtMs === clock.nowMs()
      })
    }
    expect(stream.closed).toBeNull()
    expect(await statusOf(cookie)).toBe(200)
    await stream.end()
  })

  it('over plain http a session is for loopback only; elsewhere 400 names public_origin', async () => {
    // Another address of this machine is not loopback's own.
    const key = await service.key()
    const answer = await api.ask('/v1/session', {
      method: 'POST',
      key,
      headers: { 'x-forwarded-for': '198.51.100.7' },
    })
    expect(answer.status).toBe(400)
    expect((answer.body as { error: string }).error).toContain('listen.public_origin')
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  it('the control socket is in the data folder, for its owner alone', () => {
    const { path } = service.config.store
    expect(statSync(controlPath(path)).mode & 0o777).toBe(0o600)
  })
})
