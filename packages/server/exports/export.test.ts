/** Exports through the door: equal to the log row by row, joined without overlap or gap, and whole after any cut. */
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Envelope } from '@assay/sdk/wire'
import { lastRow } from '../../cli/lastRow.ts'
import { unsealed } from '../store/envelope.ts'
import { ask } from '../endToEnd/testing/answer.ts'
import { openTestApi, type TestApi } from '../endToEnd/testing/testApi.ts'
import { address, poolFacts, swap } from '../store/testing/drafts.ts'
import { generator } from '../store/testing/generator.ts'
import type { LogRecord } from '../store/port.ts'
import { CHAIN, marketCommit, TOKEN } from '../webhooks/testing/script.ts'
import { rowsOf } from './range.ts'
import { EXPORT_KINDS, TABLES } from './table.ts'

const STEPS = 300
const folder = mkdtempSync(join(tmpdir(), 'assay-export-'))
let api: TestApi
let key: string
let head: number
beforeAll(async () => {
  api = await openTestApi()
  key = await api.key()
  const pool = poolFacts('pool', TOKEN, address('usd'))
  for (let step = 1; step <= STEPS; step++) {
    const commit = marketCommit(step)
    await api.store.commit({ ...commit, records: [...commit.records, ...marketSwaps(pool, step)] })
  }
  head = (await api.store.readBounds()).head
})
afterAll(async () => {
  await api?.close()
  rmSync(folder, { recursive: true })
})

const marketSwaps = (pool: ReturnType<typeof poolFacts>, step: number) =>
  Array.from({ length: step % 4 }, (_, at) => unsealed(swap(CHAIN, pool, at)))

const fetched = async (query: string): Promise<{ bytes: Buffer; headers: Headers; status: number }> => {
  const answer = await fetch(`${api.url}/v1/export?${query}`, { headers: { authorization: `Bearer ${key}` } })
  return { bytes: Buffer.from(await answer.arrayBuffer()), headers: answer.headers, status: answer.status }
}
const objects = (ndjson: Buffer): Record<string, unknown>[] =>
  ndjson
    .toString()
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Record<string, unknown>)

async function log(): Promise<Envelope[]> {
  const records: Envelope[] = []
  for (let after = 0; after < head; ) {
    const page = await api.store.readLog(after, 1000, null)
    records.push(...page.map(({ envelope }) => JSON.parse(envelope) as Envelope))
    after = page.at(-1)?.sequence ?? head
  }
  return records
}

it('every record of a kind is a row, in order, with its exact price, and no other record is', async () => {
  const records = await log()
  const isOf = {
    prices: ({ type }: Envelope) => type === 'PRICE_UPSERT' || type === 'PRICE_RETRACT',
    events: ({ type }: Envelope) => type === 'SWAP_OBSERVED',
    retractions: ({ type }: Envelope) => type === 'PRICE_RETRACT',
  }
  for (const kind of EXPORT_KINDS) {
    const { bytes } = await fetched(`kind=${kind}&format=ndjson`)
    const rows = objects(bytes)
    const due = records.filter(isOf[kind])
    expect(rows.map(({ sequence }) => sequence)).toEqual(due.map(each => each.stream_sequence))
    expect(rows.length).toBeGreaterThan(30)
    if (kind === 'events') continue
    const prices = due.map(({ type, payload }) => {
      const said = (type === 'PRICE_RETRACT' ? (payload as { current: unknown }).current : payload) as {
        price_usd: { numerator: string; denominator: string; display: string }
      }
      return said.price_usd
    })
    expect(
      rows.map(row => ({
        numerator: row['price_numerator'],
        denominator: row['price_denominator'],
        display: row['price_display'],
      })),
    ).toEqual(prices)
  }
})

it.each(EXPORT_KINDS)('%s: CSV and Parquet have the rows of NDJSON', async kind => {
  const rows = objects((await fetched(`kind=${kind}&format=ndjson`)).bytes)
  const [header = '', ...lines] = (await fetched(`kind=${kind}&format=csv`)).bytes
    .toString()
    .trimEnd()
    .split('\r\n')
  const names = header.split(',')
  expect(lines.map(line => line.split(','))).toEqual(
    rows.map(row => names.map(name => (row[name] === null ? '' : String(row[name] as string | number)))),
  )
  const file = join(folder, `${kind}.parquet`)
  writeFileSync(file, (await fetched(`kind=${kind}&format=parquet`)).bytes)
  const read = await parquetReadObjects({ file: await asyncBufferFromFile(file) })
  const plain = read.map(row =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'bigint' ? Number(value) : (value ?? null),
      ]),
    ),
  )
  expect(plain).toEqual(rows)
  const { key_value_metadata: said = [] } = await parquetMetadataAsync(await asyncBufferFromFile(file))
  expect(said).toContainEqual({ key: 'assay.to_sequence', value: String(head) })
})

it('a pool without an address is named by its whole id', () => {
  const id = `0x${'ab'.repeat(32)}`
  const payload = { pool_id: id, kind: 'SWAP', block_number: 7 }
  const record = {
    sequence: 1,
    chainId: 1,
    timeMs: 5,
    type: 'SWAP_OBSERVED',
    envelope: JSON.stringify({ payload }),
  }
  const row = TABLES.events.rowOf({ ...record, poolIds: [id], tokenIds: [], bytes: 0 } as LogRecord)
  expect(row?.slice(0, 6)).toEqual([1, 0, 1, 5, id, 'SWAP'])
})

it('two exports join without overlap or gap, and each names the range of its records', async () => {
  const whole = await fetched('kind=prices&format=csv')
  for (const middle of [1, 77, head - 1]) {
    const first = await fetched(`kind=prices&format=csv&to_sequence=${middle}`)
    expect(first.headers.get('assay-to-sequence')).toBe(String(middle))
    const second = await fetched(`kind=prices&format=csv&after_sequence=${middle}&header=no`)
    expect([second.headers.get('assay-after-sequence'), second.headers.get('assay-epoch')]).toEqual([
      String(middle),
      '0',
    ])
    expect(Buffer.concat([first.bytes, second.bytes]).equals(whole.bytes)).toBe(true)
  }
})

it.each(['csv', 'ndjson'] as const)(
  'a %s cut at random bytes and resumed equals one in a single piece',
  async format => {
    const whole = (await fetched(`kind=prices&format=${format}`)).bytes
    const next = generator(whole.length)
    for (let cut = 0; cut < 60; cut++) {
      const kept = whole.subarray(0, next() % (whole.length + 1))
      const found = lastRow(kept.toString('latin1'), format)
      const good = found === null ? Buffer.alloc(0) : kept.subarray(0, kept.length - found.behind)
      const from = found === null ? '' : `&after_sequence=${found.sequence}&header=no`
      const rest = await fetched(`kind=prices&format=${format}${from}`)
      expect(Buffer.concat([good, rest.bytes]).equals(whole), `cut at ${kept.length}`).toBe(true)
    }
  },
)

it('a time and a chain narrow it', async () => {
  const rows = objects((await fetched('kind=prices&format=ndjson')).bytes)
  const fromMs = rows[100]?.['committed_at_ms'] as number
  const toMs = (rows[200]?.['committed_at_ms'] as number) + 1
  const narrowed = objects((await fetched(`kind=prices&format=ndjson&from_ms=${fromMs}&to_ms=${toMs}`)).bytes)
  const isIn = (row: Record<string, unknown>) =>
    (row['committed_at_ms'] as number) >= fromMs && (row['committed_at_ms'] as number) < toMs
  expect(narrowed).toEqual(rows.filter(isIn))
  expect((await fetched('kind=prices&format=ndjson&chain_id=2')).bytes.length).toBe(0)
})

it.each([
  ['', 'kind is missing'],
  ['kind=candle', 'expected one of prices'],
  ['kind=candles&after_sequence=4', 'candles begin at from_ms'],
  ['kind=candles&interval=2h', 'expected one of 1m, 5m, 1h, 1d'],
  ['kind=prices&interval=1h', 'interval applies only to candles'],
  ['kind=prices&format=xls', 'expected one of csv'],
  ['kind=prices&after_sequence=1e3', 'expected an integer'],
  ['kind=prices&after_sequence=9&to_sequence=8', 'expected at most 8'],
  ['kind=prices&from_ms=5&to_ms=5', 'before to_ms'],
  ['kind=prices&limit=1', 'unknown parameter'],
])('%s is refused: %s', async (query, words) => {
  const answer = await ask(`${api.url}/v1/export?${query}`, { key })
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(words)])
})

it('records deleted midway end it with a failure, never with a file that looks complete', async () => {
  const records = await api.store.readLog(0, 10, null)
  const store = { readLog: async (after: number) => records.filter(({ sequence }) => sequence > after + 2) }
  const range = { after: 0, through: 10, chainId: null, fromMs: null, toMs: null }
  await expect(rowsOf(store, TABLES.prices, range).next()).rejects.toThrow(
    'records 1 to 2 are no longer retained',
  )
  const none = { readLog: async () => [] }
  await expect(rowsOf(none, TABLES.prices, range).next()).rejects.toThrow('no records after 0')
})
