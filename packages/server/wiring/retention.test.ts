/** At start: the size of a retained history is reported, and an older log is scanned for withdrawals. */
import { expect, test } from 'vitest'
import { writeMarketLog } from '../exports/testing/marketLog.ts'
import { historyBytes, mebibytes } from '../config/historySize.ts'
import type { Settings } from '../http/settings.ts'
import { systemClock } from '../ops/clock.ts'
import type { Log } from '../ops/log.ts'
import { QUIET } from '../ops/testing/quiet.ts'
import { until } from '../endToEnd/testing/until.ts'
import { sqliteDatabase } from '../store/testing/connect.ts'
import { keepPruning } from './retention.ts'

test('the size is estimated from the stored prices, and not reported without a history of its own', async () => {
  const database = await sqliteDatabase()
  const store = await database.connect()
  await writeMarketLog(store, 5, 60)
  const lines: Record<string, unknown>[] = []
  const log: Log = { ...QUIET, info: (text, fields) => void lines.push({ text, ...fields }) }
  const settingsOf = (retention: Settings['retention']) => ({ retention }) as Settings
  const begin = (retention: Settings['retention']) =>
    keepPruning({
      store,
      settings: settingsOf(retention),
      clock: systemClock,
      log,
      replayed: () => null,
    })
  begin({ hours: 72, records: 1000 }).close()
  const kept = begin({ hours: 72, records: 1000, historyDays: 365 })
  await until('a line', () => lines.length > 0)
  kept.close()
  const { prices, fromMs, toMs } = await store.readHistorySize()
  expect(prices).toBeGreaterThan(10)
  expect(lines).toEqual([
    {
      text: 'price history is enabled',
      days: 365,
      prices,
      expected_mib: mebibytes(historyBytes(365, { prices, ms: toMs - fromMs })),
    },
  ])
  await database.dispose()
})
