/** Every answer about webhooks against the published document, and the examples in it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tokenFacts } from '../../store/testing/drafts.ts'
import { Receiver } from '../../webhooks/testing/receiver.ts'
import { CHAIN, pricedAt, TOKEN } from '../../webhooks/testing/script.ts'
import { openTestApi, type TestApi } from '../testing/testApi.ts'
import type { TestService } from '../testing/testService.ts'
import { until } from '../testing/until.ts'
import { DescribedApi } from './describedApi.ts'
import { writeExamples } from './examples.ts'

let served: TestApi
let api: DescribedApi
let receiver: Receiver
beforeAll(async () => {
  receiver = await Receiver.open()
  served = await openTestApi({ resolve: async () => ['127.0.0.1'] })
  await served.commit(CHAIN, [pricedAt('r1', 99n, 100n)], [tokenFacts(TOKEN)])
  // Of a service it needs only where it is and who may ask.
  api = await DescribedApi.of(served as unknown as TestService)
})
afterAll(async () => {
  writeExamples(api.answers)
  await served?.close()
  await receiver?.close()
})

it('answers as described, from registration to deletion', async () => {
  const asking = { key: await served.key() }
  const condition = { kind: 'price_crosses', chain_id: CHAIN, token_address: TOKEN, price_usd: '1' }
  const url = `http://hooks.example.com:${receiver.port}/assay`
  const made = await api.post('/v1/webhooks', { url, condition, name: 'above a dollar' }, asking)
  expect(made.status).toBe(201)
  const { webhook_id: id, position } = made.body as { webhook_id: string; position: number }
  await served.commit(CHAIN, [pricedAt('r2', 101n, 100n)])
  await until('delivered', () => receiver.ids.length === 1)
  await until('noted', async () => (await served.store.readPending(id, 1)).length === 0)
  for (const path of ['', `/${id}`, `/${id}/deliveries`])
    expect((await api.get(`/v1/webhooks${path}`, asking)).status).toBe(200)
  const post = (action: string) => api.ask(`/v1/webhooks/${id}/${action}`, { ...asking, method: 'POST' })
  expect((await post('test')).status).toBe(200)
  expect((await post('rotate')).status).toBe(200)
  expect((await post('pause')).status).toBe(204)
  expect((await post('resume')).status).toBe(204)
  expect((await api.post(`/v1/webhooks/${id}/replay`, { after_sequence: position }, asking)).status).toBe(200)
  const refused = [
    await api.post('/v1/webhooks', { url: 'http://10.0.0.1/', condition }, asking),
    await api.get('/v1/webhooks', { key: await served.key(['read']) }),
    await api.get(`/v1/webhooks/${id}`),
    await api.get(`/v1/webhooks/${id}/deliveries?cursor=x`, asking),
  ]
  expect(refused.map(({ status }) => status)).toEqual([400, 403, 404, 400])
  expect((await api.ask(`/v1/webhooks/${id}`, { ...asking, method: 'DELETE' })).status).toBe(204)
})
