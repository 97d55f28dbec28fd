/** The candle builder resumes from the last candle, only while enabled, and stops when it is closed. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeMarketLog } from '../exports/testing/marketLog.ts'
import type { Clock } from '../ops/clock.ts'
import type { Log } from '../ops/log.ts'
import { QUIET } from '../ops/testing/quiet.ts'
import { until } from '../endToEnd/testing/until.ts'
import { type FullStore, sqliteDatabase, type TestDatabase } from '../store/testing/connect.ts'
import { keepCandles } from './candles.ts'

const lookMs = 5

let database: TestDatabase
let store: FullStore
let nowMs: number
const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() }
beforeEach(async () => {
  database = await sqliteDatabase()
  store = await database.connect()
  await writeMarketLog(store, 11, 60)
  const points = await store.readPointsAfter(0, 1000)
  nowMs = points.at(-1)?.atMs as number
})
afterEach(() => database.dispose())

test('prices are in candles once they have settled, the newest two minutes later', async () => {
  const building = keepCandles({ store, clock, log: QUIET, lookMs })
  const points = await store.readPointsAfter(0, 1000)
  const settled = points.findIndex(({ atMs }) => atMs > nowMs - 120_000)
  await until('settled', async () => (await store.readCandlesAt()) === points[settled - 1]?.sequence)
  nowMs += 120_001
  await until('all', async () => (await store.readCandlesAt()) === points.at(-1)?.sequence)
  await building.close()
})

test('nothing is built when disabled; a failure is reported, and the next run continues', async () => {
  nowMs += 200_000
  let looks = 0
  const idle = keepCandles({ store, clock, log: QUIET, lookMs, isWanted: () => (looks++, false) })
  await until('looks', () => looks > 3)
  await idle.close()
  expect(await store.readCandlesAt()).toBe(0)
  const warnings: string[] = []
  const log: Log = { ...QUIET, warn: text => void warnings.push(text) }
  const failing = { ...store, readPointsAfter: async () => Promise.reject(new Error('cut')) }
  let isFailing = true
  const building = keepCandles({
    store: {
      ...store,
      readPointsAfter: (after, limit) =>
        isFailing ? failing.readPointsAfter() : store.readPointsAfter(after, limit),
    },
    clock,
    log,
    lookMs,
  })
  await until('a warning', () => warnings.length > 0)
  expect(warnings[0]).toBe('candles could not be built')
  isFailing = false
  await until('candles', async () => (await store.readCandlesAt()) > 0)
  await building.close()
})
