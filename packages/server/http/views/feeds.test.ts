import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Health } from '@assay/sdk/wire'
import type { RecordDraft } from '../../store/port.ts'
import { type FullStore, sqliteDatabase, type TestDatabase } from '../../store/testing/connect.ts'
import { address, commitOf, health, tokenUpsert } from '../../store/testing/drafts.ts'
import { Hub } from '../../stream/hub.ts'
import { Feeds } from './feeds.ts'
import { QuoteCache } from './quoteCache.ts'

const CHAIN = 1
const TOKEN = address('token')
/** Before the prices of drafts expire. */
const START_MS = 10_000

let database: TestDatabase
let store: FullStore
let hub: Hub
let nowMs: number
let step = 0
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
const opened: { close(): void }[] = []

beforeEach(async () => {
  database = await sqliteDatabase()
  store = await database.connect()
  hub = await Hub.open(store, clock)
  nowMs = START_MS
  step = 0
})
afterEach(async () => {
  for (const each of [...opened.splice(0), hub]) each.close()
  await database.dispose()
})

const report = (status: Health['status'], updatedAtMs = nowMs): RecordDraft => {
  const draft = health(CHAIN, status)
  return { ...draft, payload: { ...draft.payload, reasons: [], updated_at_ms: updatedAtMs } }
}

/** Committed, and received by every listener. */
async function commit(...records: RecordDraft[]): Promise<void> {
  await store.commit(commitOf(CHAIN, ++step, { records }))
  const { head } = await store.readBounds()
  await new Promise<void>(resolve => {
    const unlisten = hub.listen({
      wake() {
        if (hub.head < head) return
        unlisten()
        resolve()
      },
    })
    hub.wake()
  })
}

async function open(): Promise<Feeds> {
  const feeds = await Feeds.open(store, hub, clock, [CHAIN])
  opened.push(feeds)
  return feeds
}

test.each([
  ['just now', 0, 'DEGRADED', null],
  ['half a minute ago', -30_000, 'DEGRADED', null],
  ['more than half a minute ago', -30_001, 'UNAVAILABLE', 'UNAVAILABLE'],
  ['before the clock was set back', 3_600_000, 'UNAVAILABLE', 'UNAVAILABLE'],
] as const)(
  'R-present-2: health that a worker reported %s counts while it reports',
  async (_, atMs, status, gone) => {
    const late = report('DEGRADED', nowMs + atMs)
    await commit({ ...late, payload: { ...late.payload, reasons: ['HEAD_OLD'] } })
    const feeds = await open()
    const reasons = status === 'DEGRADED' ? ['HEAD_OLD'] : ['HEAD_OLD', 'WORKER_SILENT']
    expect(feeds.health(CHAIN, nowMs)).toMatchObject({ status, reasons })
    expect(feeds.gone(CHAIN, nowMs)).toBe(gone)
  },
)

test('a chain that never reported is UNAVAILABLE, with the reason', async () => {
  const feeds = await open()
  expect(feeds.health(CHAIN, nowMs)).toMatchObject({
    chain_id: CHAIN,
    status: 'UNAVAILABLE',
    reasons: ['WORKER_SILENT'],
    head: null,
    endpoints: [],
  })
  expect(feeds.gone(CHAIN, nowMs)).toBe('UNAVAILABLE')
})

test('records from the log count at once', async () => {
  const feeds = await open()
  for (const [status, gone] of [
    ['HEALTHY', null],
    ['GAP', 'GAP'],
    ['DEGRADED', null],
    ['UNAVAILABLE', 'UNAVAILABLE'],
  ] as const) {
    await commit(report(status))
    expect([feeds.feed(CHAIN, nowMs).status, feeds.gone(CHAIN, nowMs)]).toEqual([status, gone])
  }
})

test('a cached price is not sent past the moment its feed falls silent, and its tag changes', async () => {
  const quotes = new QuoteCache(store, hub, await open())
  opened.push(quotes)
  await commit(report('HEALTHY'), tokenUpsert({ chainId: CHAIN, recordId: 'a' }, TOKEN, '1.25'))
  const first = await quotes.read(CHAIN, TOKEN, nowMs)
  expect(JSON.parse(String(first?.body))).toMatchObject({ state: 'PRICED' })
  expect(first?.bytes).toBe(Buffer.byteLength(String(first?.body)))
  nowMs += 30_000
  expect(quotes.recall(`${CHAIN}/${TOKEN}`, nowMs)?.etag).toBe(first?.etag)
  nowMs += 1
  const silent = quotes.recall(`${CHAIN}/${TOKEN}`, nowMs)
  expect(JSON.parse(String(silent?.body))).toMatchObject({
    chain_id: CHAIN,
    token: TOKEN,
    state: 'UNPRICED',
    reason: 'FEED',
    presented: true,
    candidates: [],
    last_priced: { price_usd: { display: '1.25' }, stream_sequence: 2 },
  })
  expect(silent?.etag).not.toBe(first?.etag)
})

test('prices read while the feed recovers are read again', async () => {
  let reads = 0
  let release: () => void = () => undefined
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  const slow = {
    ...store,
    async readQuote(chainId: number, token: string) {
      reads += 1
      const stored = await store.readQuote(chainId, token)
      if (reads === 1) await held
      return stored
    },
  }
  const quotes = new QuoteCache(slow, hub, await open())
  opened.push(quotes)
  await commit(report('HEALTHY'), tokenUpsert({ chainId: CHAIN, recordId: 'a' }, TOKEN, '1.25'))
  nowMs += 30_001
  const reading = quotes.read(CHAIN, TOKEN, nowMs)
  await commit(report('HEALTHY'))
  release()
  await reading
  expect(reads).toBe(2)
})

test('prices cached before a silence are not sent after it', async () => {
  const quotes = new QuoteCache(store, hub, await open())
  opened.push(quotes)
  await commit(report('HEALTHY'), tokenUpsert({ chainId: CHAIN, recordId: 'a' }, TOKEN, '1.25'))
  await quotes.read(CHAIN, TOKEN, nowMs)
  expect(quotes.recall(`${CHAIN}/${TOKEN}`, nowMs)).not.toBeNull()
  nowMs += 15_000
  await commit(report('HEALTHY'))
  expect(quotes.recall(`${CHAIN}/${TOKEN}`, nowMs)).not.toBeNull()
  nowMs += 60_000
  // The record of the token is further down the log than what has been read of it so far.
  await commit(report('HEALTHY'))
  expect(quotes.recall(`${CHAIN}/${TOKEN}`, nowMs)).toBeNull()
  expect(JSON.parse(String((await quotes.read(CHAIN, TOKEN, nowMs))?.body))).toMatchObject({
    state: 'PRICED',
  })
  expect(quotes.recall(`${CHAIN}/${TOKEN}`, nowMs)).not.toBeNull()
})
