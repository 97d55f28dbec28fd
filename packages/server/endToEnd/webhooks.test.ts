/** Webhooks through the door: who may see which, what is sent when, and what an operator or a consumer can do about it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createClient, type WebhookCondition } from '@assay/sdk'
import { health, tokenFacts } from '../store/testing/drafts.ts'
import { Receiver, MANNERS } from '../webhooks/testing/receiver.ts'
import { CHAIN, pricedAt, retractedTo, TOKEN } from '../webhooks/testing/script.ts'
import { ask } from './testing/answer.ts'
import { openTestApi, type TestApi } from './testing/testApi.ts'
import { until } from './testing/until.ts'

let api: TestApi
let receiver: Receiver
let serial = 0
beforeAll(async () => {
  api = await openTestApi()
  await api.commit(CHAIN, [], [tokenFacts(TOKEN)])
})
afterAll(() => api?.close())
beforeEach(async () => {
  receiver = await Receiver.open()
})
afterEach(() => receiver.close())

const token = { chain_id: CHAIN, token_address: TOKEN as `0x${string}` }
const crosses: WebhookCondition = { kind: 'price_crosses', ...token, price_usd: '1' }
/** The next step of the chain; the sequence of its last record. */
const commit = (...cents: readonly bigint[]): Promise<number> =>
  api.commit(
    CHAIN,
    cents.map(each => pricedAt(`r${++serial}`, each, 100n)),
  )
const clientOf = async (scopes?: Parameters<TestApi['key']>[0]) =>
  createClient({ baseUrl: api.url, apiKey: await api.key(scopes) })

describe('a webhook of a price', () => {
  it('is called on each crossing since it was registered, signed, with the record word for word', async () => {
    await commit(99n, 101n)
    const { webhooks } = await clientOf()
    const made = await webhooks.create({ url: receiver.url, condition: crosses })
    receiver.secret = made.secret
    const first = await commit(102n, 98n)
    const second = await commit(97n, 100n)
    await until('both', () => receiver.ids.length === 2)
    expect(receiver.forged).toEqual([])
    expect(receiver.ids).toEqual([first, second].map(at => `msg_${made.webhook_id}_${at}`))
    const [body] = receiver.bodies()
    const [record] = await api.store.readLog(first - 1, 1, null)
    expect(body).toEqual({
      type: 'price.crossed',
      timestamp: new Date(record?.timeMs ?? 0).toISOString(),
      data: {
        webhook_id: made.webhook_id,
        stream_sequence: first,
        direction: 'down',
        threshold_usd: '1',
        price_usd: expect.objectContaining({ numerator: '98', denominator: '100' }),
        record: JSON.parse(record?.envelope ?? ''),
      },
    })
    expect(receiver.received[0]?.body).toContain(record?.envelope)
    await until('noted', async () => (await webhooks.fetch(made.webhook_id)).pending === 0)
    const { deliveries } = await webhooks.fetchDeliveries(made.webhook_id, { limit: 1 })
    expect(deliveries).toMatchObject([
      {
        stream_sequence: second,
        state: 'DELIVERED',
        attempts: 1,
        status: 204,
        error: null,
        next_attempt_at_ms: null,
      },
    ])
    await webhooks.remove(made.webhook_id)
    await expect(webhooks.fetch(made.webhook_id)).rejects.toMatchObject({ status: 404 })
  })

  it('is replayed from a position under the same ids, and no further back than the log reaches', async () => {
    const { webhooks } = await clientOf()
    const place = await commit(99n)
    const made = await webhooks.create({ url: receiver.url, condition: crosses })
    await commit(101n)
    await commit(99n)
    await until('both', () => receiver.ids.length === 2)
    const before = receiver.received.map(({ id, body }) => [id, body])
    await webhooks.replay(made.webhook_id, { after_sequence: place })
    await until('both again', () => receiver.received.length === 4)
    expect(receiver.received.slice(2).map(({ id, body }) => [id, body])).toEqual(before)
    await expect(webhooks.replay(made.webhook_id, { after_sequence: 2 ** 41 })).rejects.toMatchObject({
      message: expect.stringMatching(/after_sequence is .*; expected \d+ to \d+$/),
    })
  })

  it('paused it keeps its position and delivers afterwards', async () => {
    await commit(99n)
    const { webhooks } = await clientOf()
    const made = await webhooks.create({ url: receiver.url, condition: crosses })
    await webhooks.pause(made.webhook_id)
    expect((await webhooks.fetch(made.webhook_id)).state).toBe('PAUSED')
    const [up, down] = [await commit(101n), await commit(99n)]
    expect(receiver.received).toEqual([])
    await webhooks.resume(made.webhook_id)
    await until('both', () => receiver.ids.length === 2)
    expect(
      receiver.bodies().map(({ data }) => (data as { stream_sequence: number }).stream_sequence),
    ).toEqual([up, down])
  })

  it('a receiver that is gone for good parks it, with the reason; resumed, it continues', async () => {
    await commit(99n)
    const { webhooks } = await clientOf()
    const made = await webhooks.create({ url: receiver.url, condition: crosses })
    receiver.manner = () => answer => void answer.writeHead(410).end()
    await commit(101n)
    await until('parked', async () => (await webhooks.fetch(made.webhook_id)).state === 'PARKED')
    expect(await webhooks.fetch(made.webhook_id)).toMatchObject({
      reason: 'the receiver returned 410 and wants no more messages',
      pending: 1,
    })
    receiver.manner = () => MANNERS.well
    const seen = receiver.received.length
    await webhooks.resume(made.webhook_id)
    await until('called again', () => receiver.received.length > seen)
    expect(receiver.ids.length).toBe(1)
  })

  it('with two secrets after rotating: receivers with either accept the message', async () => {
    await commit(99n)
    const { webhooks } = await clientOf()
    const made = await webhooks.create({ url: receiver.url, condition: crosses })
    const rotated = await webhooks.rotate(made.webhook_id)
    expect(rotated.secret).not.toBe(made.secret)
    expect(rotated.previous_secret_until_ms).toBeGreaterThan(Date.now())
    for (const secret of [made.secret, rotated.secret]) {
      receiver.secret = secret
      expect(await webhooks.test(made.webhook_id)).toMatchObject({ delivered: 'YES', status: 204 })
    }
    expect(receiver.forged).toEqual([])
    expect(new Set(receiver.bodies().map(({ type }) => type))).toEqual(new Set(['webhook.test']))
    expect(receiver.ids.length).toBe(2)
  })

  it('whose consumer has no live key any more is parked and called no more', async () => {
    await commit(99n)
    const { key, keyId } = await api.access.issue('leaving', 'leaving', ['stream'], null)
    const { webhooks } = createClient({ baseUrl: api.url, apiKey: key })
    const made = await webhooks.create({ url: receiver.url, condition: crosses })
    await api.access.revoke(keyId)
    await until('parked', async () => {
      await commit(101n, 99n)
      return (await api.store.readWebhook(made.webhook_id))?.state === 'PARKED'
    })
    expect((await api.store.readWebhook(made.webhook_id))?.reason).toContain('no live key')
  })
})

it('conditions of a chain: retractions of any token, and changes of health', async () => {
  const { webhooks } = await clientOf()
  const other = await Receiver.open()
  await api.commit(CHAIN, [health(CHAIN, 'HEALTHY')])
  const place = await commit(99n)
  await webhooks.create({ url: receiver.url, condition: { kind: 'retracted', chain_id: CHAIN } })
  await webhooks.create({ url: other.url, condition: { kind: 'health', chain_id: CHAIN } })
  const records = [
    retractedTo('x', `r${serial}`, 98n, 100n),
    health(CHAIN, 'HEALTHY'),
    health(CHAIN, 'GAP'),
    health(CHAIN, 'GAP'),
  ]
  await api.commit(CHAIN, records)
  await until('both', () => receiver.ids.length > 0 && other.ids.length > 0)
  expect(receiver.bodies()).toMatchObject([
    { type: 'price.retracted', data: { stream_sequence: place + 1, reason: 'REORG' } },
  ])
  expect(other.bodies()).toMatchObject([{ type: 'feed.health', data: { from: 'HEALTHY', to: 'GAP' } }])
  await other.close()
})

describe('who may do what', () => {
  it('a consumer sees and changes its own; those of another do not exist for it', async () => {
    const [mine, other] = [await clientOf(), await clientOf()]
    const { webhook_id: id } = await mine.webhooks.create({ url: receiver.url, condition: crosses })
    expect((await other.webhooks.fetchAll()).webhooks).toEqual([])
    for (const call of [
      () => other.webhooks.fetch(id),
      () => other.webhooks.remove(id),
      () => other.webhooks.test(id),
      () => other.webhooks.rotate(id),
      () => other.webhooks.pause(id),
      () => other.webhooks.resume(id),
      () => other.webhooks.fetchDeliveries(id),
      () => other.webhooks.replay(id, { after_sequence: 0 }),
    ])
      await expect(call()).rejects.toMatchObject({ status: 404 })
    expect(await mine.webhooks.fetch(id)).toMatchObject({ state: 'ACTIVE' })
    expect(receiver.received).toEqual([])
    const operator = await clientOf(['admin'])
    expect((await operator.webhooks.fetchAll()).webhooks.map(({ webhook_id }) => webhook_id)).toContain(id)
    await operator.webhooks.remove(id)
    await expect(mine.webhooks.fetch(id)).rejects.toMatchObject({ status: 404 })
  })

  it('a key that may only read is refused', async () => {
    expect((await ask(`${api.url}/v1/webhooks`, { key: await api.key(['read']) })).status).toBe(403)
  })

  it('secrets are in the responses that create them and nowhere else', async () => {
    const key = await api.key()
    const { webhooks } = createClient({ baseUrl: api.url, apiKey: key })
    const { webhook_id: id, secret } = await webhooks.create({ url: receiver.url, condition: crosses })
    for (const path of ['', `/${id}`, `/${id}/deliveries`])
      expect((await ask(`${api.url}/v1/webhooks${path}`, { key })).text).not.toContain('whsec_')
    expect(JSON.stringify(await api.store.readAudit(null, 100))).not.toContain(secret)
  })
})

it.each([
  ['an address inside', { url: 'http://10.0.0.1/', condition: crosses }, 400, 'not on the public internet'],
  [
    'a user in the address',
    { url: 'http://a:b@example.com/', condition: crosses },
    400,
    'a user or a password',
  ],
  ['a value of 0', { url: 'http://1.1.1.1/', condition: { ...crosses, price_usd: '0' } }, 400, 'above 0'],
  ['no number', { url: 'http://1.1.1.1/', condition: { ...crosses, price_usd: '1e3' } }, 400, 'condition'],
  [
    'an unknown condition',
    { url: 'http://1.1.1.1/', condition: { kind: 'mood', chain_id: 1 } },
    400,
    'condition',
  ],
  [
    'a chain that is not served',
    { url: 'http://1.1.1.1/', condition: { kind: 'health', chain_id: 99 } },
    404,
    'chain 99',
  ],
  [
    'an unknown token',
    { url: 'http://1.1.1.1/', condition: { ...crosses, token_address: `0x${'12'.repeat(20)}` } },
    404,
    'is not known',
  ],
])('%s is refused with the fault', async (_, body, status, words) => {
  const answer = await ask(`${api.url}/v1/webhooks`, {
    key: await api.key(),
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(words)])
})
