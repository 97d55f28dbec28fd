/** The /metrics of webhooks and exports: states and outcomes, shown as 0 before the first. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tokenFacts } from '../store/testing/drafts.ts'
import { MANNERS, Receiver } from '../webhooks/testing/receiver.ts'
import { CHAIN, pricedAt, TOKEN } from '../webhooks/testing/script.ts'
import { openTestApi, type TestApi } from './testing/testApi.ts'
import { until } from './testing/until.ts'

let api: TestApi
let key: string
let receiver: Receiver
beforeAll(async () => {
  receiver = await Receiver.open()
  api = await openTestApi()
  key = await api.key()
  await api.commit(CHAIN, [pricedAt('first', 100n, 100n)], [tokenFacts(TOKEN)])
})
afterAll(async () => {
  await api?.close()
  await receiver?.close()
})

async function series(name: string): Promise<number | undefined> {
  const text = await (await fetch(`${api.url}/metrics`)).text()
  const line = text.split('\n').find(each => each.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length))
}
/** Or more: what fails is tried again meanwhile. */
const untilSeries = (name: string, value: number) =>
  until(`${name} ${value}`, async () => ((await series(name)) ?? -1) >= value)
const authorized = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })
const attempts = (outcome: string) => `assay_webhook_attempts_total{outcome="${outcome}"}`
const ended = (outcome: string) => `assay_exports_total{outcome="${outcome}"}`

it('webhooks are counted by state, and attempts by their outcome', async () => {
  const states = ['ACTIVE', 'PAUSED', 'PARKED'].map(state => `assay_webhooks{state="${state}"}`)
  for (const name of [...states, ...['delivered', 'failed', 'parked'].map(attempts), 'assay_webhook_pending'])
    expect([name, await series(name)]).toEqual([name, 0])
  const condition = { kind: 'price_moves', chain_id: CHAIN, token_address: TOKEN, bps: 100 }
  const made = await fetch(`${api.url}/v1/webhooks`, {
    method: 'POST',
    headers: authorized(),
    body: JSON.stringify({ url: receiver.url, condition }),
  })
  expect(made.status).toBe(201)
  const { webhook_id: id } = (await made.json()) as { webhook_id: string }
  await api.commit(CHAIN, [pricedAt('second', 120n, 100n)])
  await untilSeries(attempts('delivered'), 1)
  expect(await series('assay_webhooks{state="ACTIVE"}')).toBe(1)

  receiver.manner = () => MANNERS.failing
  await api.commit(CHAIN, [pricedAt('third', 150n, 100n)])
  await untilSeries(attempts('failed'), 1)
  expect(await series('assay_webhook_pending')).toBe(1)
  receiver.manner = () => answer => void answer.writeHead(410).end()
  // Resuming tries what is due at once.
  await fetch(`${api.url}/v1/webhooks/${id}/resume`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
  })
  await untilSeries(attempts('parked'), 1)
  await untilSeries('assay_webhooks{state="PARKED"}', 1)
  expect([
    await series('assay_webhooks{state="ACTIVE"}'),
    await series('assay_webhook_behind_records'),
  ]).toEqual([0, 0])
})

it('exports are counted by how they end, with their bytes', async () => {
  const exported = (signal?: AbortSignal) =>
    fetch(`${api.url}/v1/export?kind=prices&format=csv`, {
      headers: authorized(),
      ...(signal === undefined ? {} : { signal }),
    })
  for (const outcome of ['whole', 'cut', 'failed']) expect(await series(ended(outcome))).toBe(0)
  const whole = await (await exported()).arrayBuffer()
  await untilSeries(ended('whole'), 1)
  expect(await series('assay_export_bytes_total{format="csv"}')).toBe(whole.byteLength)

  const store = api.store as { readLog: typeof api.store.readLog }
  const { readLog } = store
  // At the beginning of the log, which only an export reads: the hub continues.
  const insteadOf =
    (read: typeof readLog): typeof readLog =>
    (after, limit, chain) =>
      after === 0 ? read(after, limit, chain) : readLog(after, limit, chain)
  store.readLog = insteadOf(async () => [])
  await expect(exported().then(answer => answer.arrayBuffer())).rejects.toThrow()
  await untilSeries(ended('failed'), 1)
  // More than fits between here and there: it is under way until it is taken, or left.
  store.readLog = insteadOf(async (...query) => {
    const records = await readLog(...query)
    const long = `"numerator":"${'9'.repeat(30_000_000)}"`
    return records.map(each => ({ ...each, envelope: each.envelope.replace(/"numerator":"\d+"/, long) }))
  })
  const leaving = new AbortController()
  await exported(leaving.signal)
  await untilSeries('assay_exports_running', 1)
  leaving.abort()
  await untilSeries(ended('cut'), 1)
  expect(await series('assay_exports_running')).toBe(0)
  store.readLog = readLog
})
