/** R-admin-1, R-access-1 and R-access-5: what an operator does, who may, and that it is written down; over a running service. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { listKeysIn, revokeKeyIn, rollKeyIn } from '../../commands/config.ts'
import type { Asking } from '../testing/answer.ts'
import { CHAIN_ID, IDLE, planWith } from '../testing/plan.ts'
import { chain, serveChain, service } from '../testing/servedChain.ts'
import { openTestService } from '../testing/testService.ts'
import { DescribedApi } from './describedApi.ts'
import { writeExamples } from './examples.ts'

let api: DescribedApi
serveChain(planWith({ tokens: [IDLE] }), { tokens: ['LARK', 'MOTH'], hasIncidents: true })
beforeAll(async () => {
  api = await DescribedApi.of(service)
})
beforeEach(() => service.untilWell())
afterAll(() => {
  if (api !== undefined) writeExamples(api.answers)
})

type Body = Record<string, unknown>
const asAdmin = async (path: string, asking: Asking = {}) =>
  api.ask(`/v1/admin/${path}`, { key: await service.key(['admin']), ...asking })
const send = async (method: string, path: string, body: unknown) =>
  asAdmin(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const audited = async (action: string) => {
  const { body } = await asAdmin('audit?limit=1000')
  const { entries } = body as {
    entries: { action: string; actor: string; subject: string; detail: string | null }[]
  }
  return entries.filter(entry => entry.action === action)
}
const quote = async (symbol: string) =>
  (await api.get(`/v1/quote/token/${CHAIN_ID}/${chain.token(symbol)}`)).body as Body

describe('keys', () => {
  it('POST issues one, shown once; GET lists it without the secret; it works, and its scopes hold', async () => {
    const wish = { consumer: 'acme', name: 'laptop', scopes: ['read'], expires_at_ms: Date.now() + 3_600_000 }
    const { status, body } = await send('POST', 'keys', wish)
    expect(status).toBe(201)
    const { key, key_id } = body as { key: string; key_id: string }
    expect(body).toMatchObject({ ...wish, revoked_at_ms: null })
    expect((await api.ask('/v1/chains', { key })).status).toBe(200)
    expect((await api.ask('/v1/admin/keys', { key })).status).toBe(403)
    const listed = await asAdmin('keys')
    expect((listed.body as { keys: Body[] }).keys.find(each => each['key_id'] === key_id)).toEqual({
      key_id,
      consumer: 'acme',
      name: 'laptop',
      scopes: ['read'],
      created_at_ms: expect.any(Number) as number,
      expires_at_ms: wish.expires_at_ms,
      revoked_at_ms: null,
    })
    expect(
      (await audited('key.issue')).some(entry => entry.subject === key_id && entry.actor.startsWith('key:')),
    ).toBe(true)
  })

  it('POST roll replaces it; DELETE ends it with 204; neither works twice', async () => {
    const { key: old, keyId } = await service.service.access.issue('old', 'roller', ['read'], null)
    const rolled = await asAdmin(`keys/${keyId}/roll`, { method: 'POST' })
    expect(rolled.status).toBe(201)
    const { key, key_id } = rolled.body as { key: string; key_id: string }
    expect(rolled.body).toMatchObject({ consumer: 'roller', name: 'old', scopes: ['read'] })
    expect((await api.ask('/v1/chains', { key: old })).status).toBe(401)
    expect((await api.ask('/v1/chains', { key })).status).toBe(200)
    expect((await asAdmin(`keys/${keyId}/roll`, { method: 'POST' })).status).toBe(404)
    expect((await asAdmin(`keys/${key_id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await api.ask('/v1/chains', { key })).status).toBe(401)
    expect((await asAdmin(`keys/${key_id}`, { method: 'DELETE' })).status).toBe(404)
  })

  it.each([
    [{}, 'the body lacks the field consumer'],
    [
      { consumer: '', name: 'n', scopes: ['read'] },
      'consumer is ""; it must NOT have fewer than 1 characters',
    ],
    [
      { consumer: 'c', name: 'n', scopes: ['root'] },
      'scopes.0 is "root"; it must be equal to one of the allowed values',
    ],
    [{ consumer: 'c', name: 'n', scopes: [] }, 'scopes is []; it must NOT have fewer than 1 items'],
    [
      { consumer: 'c', name: 'n', scopes: ['read'], expires_at_ms: 5 },
      'expires_at_ms is 5; expected a time in the future',
    ],
  ])('POST %j is 400 and issues none', async (body, error) => {
    const answer = await send('POST', 'keys', body)
    expect([answer.status, answer.body]).toEqual([400, { error }])
  })

  it('R-access-5: the command line lists, rolls and revokes through the running service', async () => {
    const { key, keyId } = await service.service.access.issue('cli', 'cli', ['read'], null)
    expect((await listKeysIn(service.config)).find(each => each.keyId === keyId)).toMatchObject({
      name: 'cli',
    })
    const rolled = await rollKeyIn(service.config, keyId)
    expect((await api.ask('/v1/chains', { key })).status).toBe(401)
    expect((await api.ask('/v1/chains', { key: rolled.key })).status).toBe(200)
    await revokeKeyIn(service.config, rolled.keyId)
    expect((await api.ask('/v1/chains', { key: rolled.key })).status).toBe(401)
    await expect(revokeKeyIn(service.config, rolled.keyId)).rejects.toThrow(
      `there is no live key "${rolled.keyId}"`,
    )
  })

  it('the command line does the same with a stopped service', async () => {
    const other = await openTestService(chain, { name: 'stopped', tokens: [] })
    const { keyId } = await other.service.access.issue('later', 'later', ['read'], null)
    await other.close()
    const rolled = await rollKeyIn(other.config, keyId)
    await revokeKeyIn(other.config, rolled.keyId)
    const keys = await listKeysIn(other.config)
    expect(keys.map(each => each.revokedAtMs !== null)).toEqual([true, true])
  })
})

describe('R-admin-1: who is allowed', () => {
  it('needs scope admin and an address on the allowlist; one forwarded by an untrusted proxy is none', async () => {
    expect((await asAdmin('keys', { key: await service.key(['read', 'stream']) })).status).toBe(403)
    for (const headers of [{ 'x-forwarded-for': '127.0.0.1' }, { forwarded: 'for=127.0.0.1' }])
      expect((await asAdmin('keys', { headers })).status).toBe(403)
    expect((await asAdmin('keys')).status).toBe(200)
  })
})

describe('for every operation that is described', () => {
  const paths = () =>
    Object.entries(api.document.paths)
      .filter(([path]) => path.startsWith('/v1/'))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { description = '' }]) => ({
          path: path.replaceAll(/\{[a-z_]+\}/g, '1'),
          method: method.toUpperCase(),
          scopes: /^Scope: (.+)\.$/.exec(description)?.[1]?.split(' or ') ?? [],
        })),
      )

  it('a key without its scope is 403', async () => {
    const refused = paths().flatMap(({ scopes, ...asked }) =>
      (['read', 'stream', 'admin'] as const)
        .filter(scope => !scopes.includes(scope))
        .map(scope => ({ ...asked, scope })),
    )
    expect(refused.length).toBeGreaterThan(60)
    for (const { path, method, scope } of refused) {
      const { status } = await api.ask(path, { method, key: await service.key([scope]) })
      expect([scope, method, path, status]).toEqual([scope, method, path, 403])
    }
  })

  it('an admin operation through an untrusted proxy is 403', async () => {
    const key = await service.key(['read', 'stream', 'admin'], 'proxied')
    const admin = paths().filter(({ path }) => path.startsWith('/v1/admin/'))
    expect(admin.length).toBeGreaterThan(15)
    for (const { path, method } of admin) {
      const { status } = await api.ask(path, { method, key, headers: { 'x-forwarded-for': '127.0.0.1' } })
      expect([method, path, status]).toEqual([method, path, 403])
    }
  })
})

describe('consumers', () => {
  /** A unit is earned back in a minute: none while a test runs. */
  const limits = {
    units: 60,
    window_ms: 3_600_000,
    burst: 3,
    stream_connections: 1,
    enrolments_per_day: 0,
  }

  it('PUT limits apply at once to every key of the consumer; GET returns them', async () => {
    const key = await service.key(['read'], 'tight')
    expect((await asAdmin('consumers/tight')).body).toMatchObject({ limits: { units: 600, burst: 60 } })
    expect((await api.ask('/v1/chains', { key })).headers.get('ratelimit-policy')).toBe(
      '"default";q=600;w=60',
    )
    expect((await send('PUT', 'consumers/tight', limits)).body).toEqual({ consumer: 'tight', limits })
    expect((await asAdmin('consumers/tight')).body).toEqual({ consumer: 'tight', limits })
    const answers = await Promise.all(Array.from({ length: 6 }, () => api.ask('/v1/chains', { key })))
    expect(answers.filter(answer => answer.status === 429).length).toBeGreaterThanOrEqual(3)
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"default";q=60;w=3600')
    expect((await audited('consumer.limits'))[0]).toMatchObject({ subject: 'tight' })
  })

  it('R-limit-4: enrolments beyond the day are 503 BUDGET_EXCEEDED; known tokens are still answered', async () => {
    const key = await service.key(['read'], 'poor')
    await send('PUT', 'consumers/poor', { ...limits, burst: 60 })
    const refused = await api.ask(`/v1/quote/token/${CHAIN_ID}/${chain.token('IDLE')}`, { key })
    expect([refused.status, (refused.body as Body)['code']]).toEqual([503, 'BUDGET_EXCEEDED'])
    expect((await api.ask(`/v1/quote/token/${CHAIN_ID}/${chain.token('MOTH')}`, { key })).status).toBe(200)
  })

  it('an unknown consumer is 404, and invalid limits are 400', async () => {
    expect((await asAdmin('consumers/nobody')).status).toBe(404)
    expect((await send('PUT', 'consumers/nobody', limits)).status).toBe(404)
    expect((await send('PUT', 'consumers/tight', { ...limits, units: 0 })).status).toBe(400)
  })
})

describe('tokens', () => {
  it('POST enrols, DELETE withdraws as UNPRICED OPERATOR, POST again prices again', async () => {
    const path = `tokens/${CHAIN_ID}/${chain.token('MOTH')}`
    expect((await asAdmin(path, { method: 'POST' })).status).toBe(200)
    expect((await asAdmin(path, { method: 'DELETE' })).status).toBe(204)
    await service.untilSeen()
    expect(await quote('MOTH')).toMatchObject({ state: 'UNPRICED', reason: 'OPERATOR' })
    expect((await asAdmin(path, { method: 'DELETE' })).status).toBe(404)
    expect((await asAdmin(path, { method: 'POST' })).status).toBe(202)
    await chain.untilMining('the token priced again', async () => (await quote('MOTH'))['state'] === 'PRICED')
    expect(await audited('token.unenrol')).toHaveLength(1)
  })
})

describe('policy', () => {
  it('GET returns the current one; PUT another: records name it, and it is found by its version', async () => {
    const before = (await asAdmin('policy')).body as {
      policy_version: string
      policy: { min_depth_usd: number }
    }
    const trial = await send('POST', 'policy/dry-run', { min_depth_usd: 100_000_000 })
    expect(trial.status).toBe(200)
    const { changes, policy_version } = trial.body as { changes: Body[]; policy_version: string }
    expect(changes.find(each => each['token_address'] === chain.token('LARK'))).toMatchObject({
      before: { state: 'PRICED' },
      after: { state: 'UNPRICED' },
    })
    expect((await quote('LARK'))['policy_version']).toBe(before.policy_version)
    expect((await asAdmin('policy')).body).toEqual(before)

    const put = await send('PUT', 'policy', { min_depth_usd: 100_000_000 })
    expect(put.body).toMatchObject({ policy_version, policy: { min_depth_usd: 100_000_000 } })
    await service.untilSeen()
    expect(await quote('LARK')).toMatchObject({ state: 'UNPRICED', policy_version })
    expect((await api.get(`/v1/policies/${policy_version}`)).status).toBe(200)

    expect((await send('PUT', 'policy', {})).body).toEqual(before)
    await chain.untilMining('the old price again', async () => (await quote('LARK'))['state'] === 'PRICED')
    expect(await audited('policy.set')).toHaveLength(2)
  })

  it('with faults is 400 and names every one', async () => {
    const { status, body } = await send('PUT', 'policy', { max_hops: 0, no_such: 1 })
    expect(status).toBe(400)
    expect((body as { error: string }).error).toMatch(
      /2 faults.*no_such.*max_hops|2 faults.*max_hops.*no_such/,
    )
  })

  it('with a key that every object has is 400, and is not taken for an empty one', async () => {
    for (const text of [
      '{"__proto__":{"max_hops":2}}',
      '{"__proto__":{}}',
      '{"constructor":{"prototype":{}}}',
    ]) {
      const { status, body } = await send('PUT', 'policy', JSON.parse(text) as object)
      expect([text, status]).toEqual([text, 400])
      expect((body as { error: string }).error).toMatch(/policy\.(__proto__|constructor): .*no such key/)
    }
  })
})

describe('retention, chains and audit', () => {
  it('PUT retention is what GET then returns; invalid ones are 400', async () => {
    expect((await send('PUT', 'retention', { hours: 100, records: 5 })).body).toEqual({
      hours: 100,
      records: 5,
    })
    expect((await asAdmin('retention')).body).toEqual({ hours: 100, records: 5 })
    expect((await send('PUT', 'retention', { hours: 0, records: 5 })).status).toBe(400)
    expect((await audited('retention.set'))[0]?.detail).toContain('"hours":100')
    const kept = { hours: 100, records: 5, history_days: 30 }
    expect((await send('PUT', 'retention', kept)).body).toEqual(kept)
    // A program that does not know of history leaves it alone.
    expect((await send('PUT', 'retention', { hours: 90, records: 5 })).body).toEqual({ ...kept, hours: 90 })
    expect((await send('PUT', 'retention', { hours: 90, records: 5, history_days: null })).body).toEqual({
      hours: 90,
      records: 5,
    })
    expect((await send('PUT', 'retention', { ...kept, history_days: 0 })).status).toBe(400)
  })

  it('POST backfill scans the past of a chain, GET shows its progress; invalid ones are refused', async () => {
    expect((await asAdmin('backfill')).body).toEqual({ backfills: [] })
    const begun = await send('POST', 'backfill', { chain_id: CHAIN_ID, from_block: 1, to_block: 3 })
    expect([begun.status, begun.body]).toMatchObject([202, { chain_id: CHAIN_ID, error: null }])
    await chain.untilMining('the end of it', async () => {
      const { backfills } = (await asAdmin('backfill')).body as { backfills: { status: string }[] }
      return backfills[0]?.status === 'DONE'
    })
    expect((await asAdmin('backfill')).body).toMatchObject({
      backfills: [
        { chain_id: CHAIN_ID, status: 'DONE', from_block: 1, to_block: 3, next_block: 4, eta_s: null },
      ],
    })
    expect((await send('POST', 'backfill', { chain_id: 999 })).status).toBe(404)
    expect((await send('POST', 'backfill', { chain_id: CHAIN_ID, from_block: 5, to_block: 3 })).status).toBe(
      400,
    )
    expect((await send('POST', 'backfill', { chain_id: CHAIN_ID, from_block: -1 })).status).toBe(400)
    expect(await audited('backfill.start')).toHaveLength(1)
  })

  it('POST pause withdraws every price and reports PAUSED; resume publishes them again', async () => {
    expect((await asAdmin(`chains/${CHAIN_ID}/pause`, { method: 'POST' })).status).toBe(204)
    await service.untilSeen()
    expect(await quote('LARK')).toMatchObject({ state: 'UNPRICED', reason: 'OPERATOR' })
    const health = async () => (await api.get(`/v1/chains/${CHAIN_ID}/health`)).body as Body
    expect(await health()).toMatchObject({
      status: 'UNAVAILABLE',
      reasons: expect.arrayContaining(['PAUSED']) as string[],
    })
    expect((await asAdmin(`chains/${CHAIN_ID}/resume`, { method: 'POST' })).status).toBe(204)
    await chain.untilMining('priced again', async () => (await quote('LARK'))['state'] === 'PRICED')
    await service.untilWell()
    expect(await health()).toMatchObject({ status: 'HEALTHY', reasons: [] })
    expect((await asAdmin('chains/999/pause', { method: 'POST' })).status).toBe(404)
    expect(await audited('chain.pause')).toHaveLength(1)
  })

  it('GET audit is paged, newest first, and contains no key', async () => {
    const whole = (await asAdmin('audit?limit=1000')).body as { entries: { at_ms: number }[] }
    const first = (await asAdmin('audit?limit=2')).body as { entries: object[]; next_cursor: string }
    const second = (await asAdmin(`audit?limit=2&cursor=${first.next_cursor}`)).body as { entries: object[] }
    expect(whole.entries.length).toBeGreaterThan(4)
    expect(second.entries).toHaveLength(2)
    expect(JSON.stringify(whole)).not.toMatch(/assay_[0-9A-Za-z]{8}_/)
  })
})

describe('incidents of a local world', () => {
  type Caused = { readonly status: string; readonly what: string | null; readonly block: unknown }
  const caused = async () => ((await asAdmin('incidents')).body as { caused: Caused[] }).caused
  const ended = async () => {
    await expect.poll(async () => (await caused()).map(({ status }) => status)).not.toContain('RUNNING')
    return (await caused())[0]
  }

  it('GET lists them; POST starts one, one at a time on a chain; GET returns its outcome', async () => {
    const { body } = await asAdmin('incidents')
    const { incidents } = body as { incidents: { name: string; about: string; has_end: boolean }[] }
    expect(incidents.map(({ name }) => name)).toEqual(expect.arrayContaining(['rug', 'reorg', 'chain-halt']))
    expect(incidents.find(({ name }) => name === 'chain-halt')).toMatchObject({ has_end: true })
    expect(body).toMatchObject({ caused: [] })
    const wish = { name: 'rug', chain_id: CHAIN_ID, token: 'MOTH' }
    const answers = await Promise.all([send('POST', 'incidents', wish), send('POST', 'incidents', wish)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409])
    expect(answers.find(({ status }) => status === 202)?.body).toMatchObject({
      name: 'rug',
      end: false,
      status: 'RUNNING',
      what: null,
    })
    expect(await ended()).toMatchObject({ status: 'DONE', token: 'MOTH', what: expect.any(String) as string })
    expect(await caused()).toHaveLength(1)
    expect((await audited('incident.cause'))[0]).toMatchObject({
      subject: `${CHAIN_ID}`,
      detail: JSON.stringify(wish),
    })
    await chain.untilMining('the price taken back', async () => (await quote('MOTH'))['state'] === 'UNPRICED')
  })

  it('an impossible one is refused, or reported once it has failed', async () => {
    const answerTo = async (wish: object) => {
      const { status, body } = await send('POST', 'incidents', wish)
      return [status, (body as { error?: string }).error]
    }
    expect(await answerTo({ name: 'flood', chain_id: CHAIN_ID })).toEqual([
      400,
      expect.stringMatching(/name is "flood"; expected one of rug, /) as string,
    ])
    expect(await answerTo({ name: 'rug', chain_id: CHAIN_ID, end: true })).toEqual([
      400,
      'rug has no duration and cannot be ended',
    ])
    expect(await answerTo({ name: 'rug', chain_id: 7 })).toEqual([
      404,
      expect.stringContaining('chain 7 is not served') as string,
    ])
    expect((await answerTo({ name: 'reorg', chain_id: CHAIN_ID, depth: 65 }))[0]).toBe(400)
    expect((await answerTo({ name: 'rug', chain_id: CHAIN_ID, token: 'NOPE' }))[0]).toBe(202)
    expect(await ended()).toMatchObject({
      status: 'FAILED',
      what: expect.stringContaining('NOPE') as string,
      block: null,
    })
  })

  it('on real chains there are none', async () => {
    const real = await openTestService(chain, { name: 'real' })
    try {
      const own = await DescribedApi.of(real)
      const key = await real.key(['admin'])
      const { body } = await own.ask('/v1/admin/incidents', { key })
      expect(body).toEqual({ incidents: [], caused: [] })
      const refused = await own.ask('/v1/admin/incidents', {
        key,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'rug', chain_id: CHAIN_ID }),
      })
      expect([refused.status, (refused.body as { error: string }).error]).toEqual([
        404,
        'this service does not run on a local world, so there are no incidents here',
      ])
    } finally {
      await real.close()
    }
  })
})
