/** Candles of the log, through the door, against candles that are computed from the log in another way, over branches that die. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seedOfRun } from '../../world/seed.ts'
import { openTestApi, type TestApi } from '../endToEnd/testing/testApi.ts'
import { commitOf } from '../store/testing/drafts.ts'
import { CHAIN, pricedAt, retractedTo } from '../webhooks/testing/script.ts'
import { candlesByHand, isTakenBack, type Spoken } from './testing/candlesByHand.ts'
import { type MarketLog, writeMarketLog } from './testing/marketLog.ts'

const INTERVALS = { '1m': 60_000, '5m': 300_000, '1h': 3_600_000, '1d': 86_400_000 } as const
type Row = Readonly<Record<string, string | number | null>>

async function logOf(api: TestApi): Promise<Spoken[]> {
  const { head } = await api.store.readBounds()
  const records: Spoken[] = []
  while (records.length < head)
    for (const { envelope } of await api.store.readLog(records.length, 1000, null))
      records.push(JSON.parse(envelope) as Spoken)
  return records
}

async function candlesOf(
  api: TestApi,
  key: string,
  query: string,
): Promise<{ rows: Row[]; headers: Headers }> {
  const answer = await fetch(`${api.url}/v1/export?kind=candles&format=ndjson&${query}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const text = await answer.text()
  expect(answer.status, text.slice(0, 300)).toBe(200)
  const lines = text.split('\n').filter(line => line !== '')
  return { rows: lines.map(line => JSON.parse(line) as Row), headers: answer.headers }
}

const withoutSequences = ({
  first_sequence: _first,
  last_sequence: _last,
  ...row
}: Record<string, unknown>) => row

describe('of a market whose branches are orphaned', () => {
  let api: TestApi
  let key: string
  let market: MarketLog
  let records: Spoken[]
  beforeAll(async () => {
    api = await openTestApi()
    key = await api.key()
    market = await writeMarketLog(api.store, seedOfRun(), 500)
    records = await logOf(api)
  })
  afterAll(() => api?.close())

  it.each(['1m', '5m', '1h'] as const)(
    'candles of %s equal those of the log without withdrawn prices',
    async interval => {
      const { rows, headers } = await candlesOf(api, key, `interval=${interval}`)
      const untilMs = Number(headers.get('assay-to-ms'))
      const due = candlesByHand(records, INTERVALS[interval]).filter(({ to_ms }) => to_ms <= untilMs)
      expect(rows.length).toBeGreaterThan(5)
      expect(rows.map(withoutSequences)).toEqual(due)
      expect(due.reduce((sum, { withdrawn }) => sum + withdrawn, 0)).toBeGreaterThan(0)
    },
  )

  it('withdraws no price of a surviving block, and every one that a retraction names', () => {
    const prices = records.filter(
      ({ type, payload }) => type.startsWith('PRICE_') && payload['scope'] === 'token',
    )
    const stateOf = ({ type, payload }: Spoken) =>
      (type === 'PRICE_RETRACT' ? payload['current'] : payload) as { as_of: { block_hash: string } }
    for (const record of prices) {
      if (!isTakenBack(records, record)) continue
      const times = market.orphaned.get(stateOf(record).as_of.block_hash) ?? []
      expect(
        times.some(after => after >= record.stream_sequence),
        `${record.stream_sequence}`,
      ).toBe(true)
    }
    const named = records
      .filter(({ type, payload }) => type === 'PRICE_RETRACT' && payload['reason'] === 'REORG')
      .map(({ payload }) => (payload['retracted'] as { stream_sequence: number }).stream_sequence)
    expect(named.length).toBeGreaterThan(10)
    for (const sequence of named)
      expect(isTakenBack(records, records[sequence - 1] as Spoken), `${sequence}`).toBe(true)
  })

  it('two exports join at any time, and a range holds whole buckets only', async () => {
    const whole = (await candlesOf(api, key, 'interval=1m')).rows
    for (const row of [whole[1], whole[Math.floor(whole.length / 2)]]) {
      const middle = (row?.['from_ms'] as number) + 17_000
      const first = await candlesOf(api, key, `interval=1m&to_ms=${middle}`)
      const second = await candlesOf(api, key, `interval=1m&from_ms=${first.headers.get('assay-to-ms')}`)
      expect([...first.rows, ...second.rows]).toEqual(whole)
      expect(Number(first.headers.get('assay-to-ms'))).toBeLessThanOrEqual(middle)
    }
  })

  it('records after the end of the range are excluded', async () => {
    const middle = Math.floor(records.length / 2)
    const { rows, headers } = await candlesOf(api, key, `interval=1m&to_sequence=${middle}`)
    const untilMs = Number(headers.get('assay-to-ms'))
    const due = candlesByHand(records.slice(0, middle), 60_000).filter(({ to_ms }) => to_ms <= untilMs)
    expect(rows.map(withoutSequences)).toEqual(due)
  })
})

it('over days, by hand: a price withdrawn in the next bucket is gone from its own, and a late one is in its own', async () => {
  const api = await openTestApi()
  const key = await api.key()
  const DAY = INTERVALS['1d']
  const startMs = 20_000 * DAY
  let step = 0
  const say = async (atMs: number, draft: ReturnType<typeof pricedAt>, block: number) => {
    const as_of = {
      block_number: block,
      block_hash: `0x${String(block).padStart(64, 'a')}`,
      block_time_ms: atMs,
    }
    const { payload } = draft
    const dated = { evaluated_at_ms: atMs, as_of }
    const said =
      draft.type === 'PRICE_RETRACT'
        ? { ...payload, current: { ...(payload['current'] as object), ...dated } }
        : { ...payload, ...dated }
    await api.store.commit(commitOf(CHAIN, ++step, { records: [{ ...draft, payload: said }], atMs }))
  }
  await say(startMs + 1, pricedAt('a', 10n, 1n), 1)
  await say(startMs + DAY - 2, pricedAt('b', 90n, 1n), 2)
  // The branch of block 2 dies a day later; block 1 stays.
  await say(startMs + DAY + 1, retractedTo('c', 'b', 12n, 1n), 102)
  await say(startMs + 2 * DAY - 1, pricedAt('d', 11n, 1n), 103)
  await say(startMs + 2 * DAY, pricedAt('e', 13n, 1n), 104)
  // The clock is set back: it still belongs to the day before.
  await say(startMs + 2 * DAY - 500, pricedAt('f', 14n, 1n), 105)
  await say(startMs + 2 * DAY + 7, pricedAt('g', 15n, 1n), 106)
  const { rows, headers } = await candlesOf(api, key, 'interval=1d')
  expect([headers.get('assay-interval'), headers.get('assay-to-ms')]).toEqual(['1d', `${startMs + 2 * DAY}`])
  const short = rows.map(row => [
    ((row['from_ms'] as number) - startMs) / DAY,
    ...['open', 'high', 'low', 'close'].map(edge => row[`${edge}_numerator`]),
    row['records'],
    row['withdrawn'],
    row['first_sequence'],
    row['last_sequence'],
  ])
  expect(short).toEqual([
    [0, '10', '10', '10', '10', 1, 1, 1, 1],
    [1, '12', '14', '11', '14', 3, 0, 3, 6],
  ])
  await api.close()
})
