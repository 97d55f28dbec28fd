/** Ends of closed buckets, over logs whose commit times cross, through the door and over a list of records. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ask } from '../endToEnd/testing/answer.ts'
import { openTestApi, type TestApi } from '../endToEnd/testing/testApi.ts'
import { generator } from '../store/testing/generator.ts'
import type { LogRecord } from '../store/port.ts'
import { marketCommit } from '../webhooks/testing/script.ts'
import { epochStart } from '../store/epoch.ts'
import { closedEnd } from './closedBucket.ts'

const MINUTE = 60_000
type Committed = Pick<LogRecord, 'sequence' | 'timeMs'>

const storeOf = (records: readonly Committed[]) => ({
  readLog: async (after: number, limit: number) =>
    records.filter(({ sequence }) => sequence > after).slice(0, limit) as LogRecord[],
})

async function endsOf(records: readonly Committed[]): Promise<number[]> {
  const through = records.at(-1)?.sequence ?? 0
  const ends: number[] = []
  for (let after = 0; ; after = ends.at(-1) as number) {
    const end = await closedEnd(storeOf(records), { after, through }, MINUTE)
    if (end.through === after) return ends
    ends.push(end.through)
  }
}

/** Two epochs with a gap between them, at times that go forward by up to a minute and back by up to `back`. */
function randomLog(seed: number, back: number): Committed[] {
  const next = generator(seed)
  let timeMs = 1_763_000_000_000
  return Array.from({ length: 200 }, (_, at) => {
    timeMs += next() % (next() % 4 === 0 ? MINUTE : 2000)
    return { sequence: at < 90 ? at + 1 : epochStart(1) + at - 89, timeMs: timeMs - (next() % (back + 1)) }
  })
}

it('every bucket but the last is closed by the next one', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const records = randomLog(seed, 0)
    const minute = ({ timeMs }: Committed) => Math.floor(timeMs / MINUTE)
    const due = records.filter((record, at) => {
      const next = records[at + 1]
      return next !== undefined && minute(next) > minute(record)
    })
    expect(await endsOf(records)).toEqual(due.map(({ sequence }) => sequence))
    expect(due.length).toBeGreaterThan(10)
  }
})

it('when times are out of order, an end is still between a record of the bucket and a later one', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const records = randomLog(seed, 5000)
    const ends = await endsOf(records)
    expect(ends.length).toBeGreaterThan(10)
    let first = 0
    for (const end of ends) {
      const last = records.findIndex(({ sequence }) => sequence === end)
      const [opening, closing, following] = [first, last, last + 1].map(
        at => (records[at] as Committed).timeMs,
      ) as [number, number, number]
      const closesAtMs = (Math.floor(opening / MINUTE) + 1) * MINUTE
      expect([last >= first, closing < closesAtMs, following >= closesAtMs]).toEqual([true, true, true])
      first = last + 1
    }
  }
})

it('nothing is closed without a record, and before the next bucket has one', async () => {
  const range = { after: 0, through: 0 }
  expect(await closedEnd(storeOf([]), range, MINUTE)).toEqual({ through: 0, closesAtMs: null })
  const records = [10, 20, 30].map((timeMs, at) => ({ sequence: at + 1, timeMs }))
  const open = await closedEnd(storeOf(records), { after: 0, through: 3 }, MINUTE)
  expect(open).toEqual({ through: 0, closesAtMs: MINUTE })
  const later = storeOf([...records, { sequence: 4, timeMs: MINUTE }])
  expect((await closedEnd(later, { after: 0, through: 3 }, MINUTE)).through).toBe(0)
  expect((await closedEnd(later, { after: 0, through: 4 }, MINUTE)).through).toBe(3)
})

let api: TestApi
let key: string
beforeAll(async () => {
  api = await openTestApi()
  key = await api.key()
  for (let step = 1; step <= 10; step++)
    await api.store.commit({ ...marketCommit(step), atMs: 1_763_000_040_000 + step * 15_000 })
})
afterAll(() => api?.close())

it('an export with closed ends with its bucket and reports when both ends were committed', async () => {
  const wanted = async (more: string) => {
    const answer = await fetch(`${api.url}/v1/export?kind=prices&format=ndjson&closed=1m${more}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const rows = (await answer.text()).split('\n').filter(line => line !== '')
    const header = (name: string) => answer.headers.get(`assay-${name}`)
    return {
      times: rows.map(line => (JSON.parse(line) as { committed_at_ms: number }).committed_at_ms),
      through: Number(header('to-sequence')),
      ends: ['after-committed-ms', 'to-committed-ms', 'closes-at-ms'].map(header),
    }
  }
  const first = await wanted('')
  expect(first.times).toEqual([55, 70, 85].map(seconds => 1_763_000_000_000 + seconds * 1000))
  expect(first.ends).toEqual(['none', '1763000085000', '1763000100000'])
  const second = await wanted(`&after_sequence=${first.through}`)
  expect(new Set(second.times)).toEqual(
    new Set([100, 115, 130, 145].map(seconds => 1_763_000_000_000 + seconds * 1000)),
  )
  expect(second.ends[0]).toBe('1763000085000')
  const open = await wanted(`&after_sequence=${second.through}`)
  expect([open.times, open.through]).toEqual([[], second.through])
})

it('candles and other lengths are refused', async () => {
  for (const [query, words] of [
    ['kind=candles&closed=1h', 'they always cover whole buckets'],
    ['kind=prices&closed=2h', 'expected one of 1m, 5m, 1h, 1d'],
  ] as const) {
    const answer = await ask(`${api.url}/v1/export?${query}`, { key })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(words)])
  }
})
