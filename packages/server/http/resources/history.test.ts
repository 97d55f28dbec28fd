/** History over orphaned branches, through the API, against an independent reading of the log. */
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fromId } from '@assay/sdk/wire'
import { seedOfRun } from '../../../world/seed.ts'
import { candlesByHand, isTakenBack, type Spoken } from '../../exports/testing/candlesByHand.ts'
import { writeMarketLog } from '../../exports/testing/marketLog.ts'
import { ask } from '../../endToEnd/testing/answer.ts'
import { openTestApi, type TestApi } from '../../endToEnd/testing/testApi.ts'
import { buildCandles } from '../../store/candleBuild.ts'
import { scanWithdrawals } from '../../store/withdrawalScan.ts'

const INTERVALS = { '1m': 60_000, '5m': 300_000, '1h': 3_600_000, '1d': 86_400_000 } as const
const FAR_MS = 99_999_999_999_999
const ALL = `from_ms=0&to_ms=${FAR_MS}`
type Entry = { readonly as_of: { readonly stream_sequence: number }; readonly withdrawn?: object }

const folder = mkdtempSync(join(tmpdir(), 'assay-history-'))
let api: TestApi
let key: string
let records: Spoken[]
let tokens: string[]
beforeAll(async () => {
  api = await openTestApi({ folder })
  key = await api.key()
  await writeMarketLog(api.store, seedOfRun(), 500)
  records = (await api.store.readLog(0, 10_000, null)).map(({ envelope }) => JSON.parse(envelope) as Spoken)
  tokens = [...new Set(ofTokens().map(({ payload }) => fromId(payload['token_id'] as string)))]
})
afterAll(async () => {
  await api?.close()
  rmSync(folder, { recursive: true })
})

const ofTokens = (): Spoken[] =>
  records.filter(({ type, payload }) => type.startsWith('PRICE_') && payload['scope'] === 'token')

/** As history is read: a record with a wrong clock is where its time is. */
const inTime = (): Spoken[] => {
  const timeOf = ({ type, payload }: Spoken) =>
    ((type === 'PRICE_RETRACT' ? payload['current'] : payload) as { evaluated_at_ms?: number } | null)
      ?.evaluated_at_ms ?? 0
  return records.toSorted((a, b) => timeOf(a) - timeOf(b) || a.stream_sequence - b.stream_sequence)
}

async function pagesOf<Row>(token: string, query: string, member: 'prices' | 'candles'): Promise<Row[]> {
  const chain = records[0]?.routing.chain_id
  const rows: Row[] = []
  for (let cursor = ''; ; ) {
    const { status, body } = await ask(
      `${api.url}/v1/history/token/${chain}/${token}?${ALL}&${query}${cursor}`,
      { key },
    )
    expect(status, JSON.stringify(body).slice(0, 300)).toBe(200)
    const page = body as Record<typeof member, Row[]> & { next_cursor: string | null }
    rows.push(...page[member])
    if (page.next_cursor === null) return rows
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
}

const sequences = (entries: readonly Entry[]) =>
  entries.map(({ as_of }) => as_of.stream_sequence).toSorted((a, b) => a - b)

async function expectHistoryOfTheLog(): Promise<void> {
  let withdrawn = 0
  for (const token of tokens) {
    const own = ofTokens().filter(({ payload }) => fromId(payload['token_id'] as string) === token)
    const gone = own.filter(record => isTakenBack(records, record)).map(each => each.stream_sequence)
    withdrawn += gone.length
    const all = await pagesOf<Entry>(token, 'include=withdrawn&limit=7', 'prices')
    expect(sequences(all)).toEqual(own.map(each => each.stream_sequence))
    expect(sequences(all.filter(entry => entry.withdrawn !== undefined))).toEqual(gone)
    const standing = await pagesOf<Entry>(token, 'limit=7', 'prices')
    expect(standing).toEqual(all.filter(entry => entry.withdrawn === undefined))
  }
  expect(withdrawn).toBeGreaterThan(10)
}

it('a series omits prices a reorganisation withdrew; include=withdrawn lists them with when and why', async () => {
  await expectHistoryOfTheLog()
  const [token] = tokens
  const all = await pagesOf<Entry>(token as string, 'include=withdrawn', 'prices')
  for (const { withdrawn, as_of } of all) {
    if (withdrawn === undefined) continue
    const { reason, at_ms, stream_sequence } = withdrawn as Record<string, number | string>
    expect([reason, typeof at_ms]).toEqual(['REORG', 'number'])
    expect(stream_sequence).toBeGreaterThan(as_of.stream_sequence)
    const says = records.find(each => each.stream_sequence === stream_sequence)
    expect(says?.type === 'SWAP_OBSERVED' || says?.payload['reason'] === 'REORG').toBe(true)
  }
})

it.each(Object.entries(INTERVALS))('candles of %s are those of the surviving prices', expectCandles)

it('and the same when they are read from stored ones', async () => {
  while (await buildCandles(api.store, FAR_MS));
  expect(await api.store.readCandlesAt()).toBeGreaterThan(0)
  for (const [interval, ms] of Object.entries(INTERVALS)) await expectCandles(interval, ms)
})

async function expectCandles(interval: string, ms: number): Promise<void> {
  const due = candlesByHand(inTime(), ms)
  for (const token of tokens) {
    const rows = await pagesOf<Record<string, unknown>>(token, `interval=${interval}&limit=3`, 'candles')
    const own = due.filter(each => each['token_address'] === token)
    const price = (each: (typeof own)[number], edge: string) => ({
      numerator: each[`${edge}_numerator`],
      denominator: each[`${edge}_denominator`],
      display: each[`${edge}_display`],
    })
    expect(rows).toEqual(
      own.map(each => ({
        from_ms: each['from_ms'],
        to_ms: each.to_ms,
        open: price(each, 'open'),
        high: price(each, 'high'),
        low: price(each, 'low'),
        close: price(each, 'close'),
        records: each['records'],
      })),
    )
  }
}

it('a moment shows what was published then, and whether it was withdrawn since', async () => {
  const gone = ofTokens().find(record => isTakenBack(records, record)) as Spoken
  const path = `/v1/history/token/${gone.routing.chain_id}/${fromId(gone.payload['token_id'] as string)}`
  const { body } = await ask(`${api.url}${path}?at_sequence=${gone.stream_sequence}`, { key })
  expect(body).toMatchObject({
    prices: [{ as_of: { stream_sequence: gone.stream_sequence }, withdrawn: { reason: 'REORG' } }],
  })
})

it('include accepts withdrawn only, and not beside candles or a moment', async () => {
  const path = `/v1/history/token/${records[0]?.routing.chain_id}/${tokens[0]}`
  for (const query of ['include=all', 'include=withdrawn&interval=1m', 'include=withdrawn&at_ms=5'])
    expect((await ask(`${api.url}${path}?${query}`, { key })).status, query).toBe(400)
})

it('a log from before withdrawals were stored is scanned for them once, step by step', async () => {
  const database = new DatabaseSync(join(folder, 'api.db'))
  database.exec(`
    DELETE FROM withdrawal;
    INSERT INTO withdrawal_scan (at, until) SELECT 0, next - 1 FROM head`)
  database.close()
  await scanWithdrawals(api.store, new AbortController().signal)
  expect(await api.store.readWithdrawalScan()).toBeNull()
  await expectHistoryOfTheLog()
})
