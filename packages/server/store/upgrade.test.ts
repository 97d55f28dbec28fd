/**
 * S12: an upgrade that is killed anywhere continues at the next start, and ends with the rows of one that was not. The
 * database has thousands of records from before withdrawals and candles were stored, so each is made in several steps.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkStore } from './check.ts'
import { openReader } from './openStore.ts'
import { bothStores } from './testing/bothStores.ts'
import { type TestDatabase } from './testing/connect.ts'
import { dyingAt } from './testing/crashing.ts'
import type { FailPoint } from './testing/failPoint.ts'
import { rowsOf, toFormerSchema } from './testing/formerForm.ts'
import { scriptedCommit } from './testing/script.ts'

const UPGRADER = fileURLToPath(new URL('./testing/upgrader.ts', import.meta.url))
/** Over 2,000 records: three steps of a scan, and of the candles. */
const STEPS = 80

/** In the order in which they are reached: each process gets as far as the next one. */
const POINTS: Readonly<Record<string, FailPoint>> = {
  'tables made': { within: 'CREATE TABLE withdrawal', at: 'COMMIT', when: 'before' },
  'one migration of three': { within: 'CREATE TABLE withdrawal', at: 'COMMIT', when: 'after' },
  'the last migration': { within: 'CREATE TABLE event_block', at: 'COMMIT', when: 'before' },
  'a step of the scan': { within: 'UPDATE withdrawal_scan', at: 'UPDATE withdrawal_scan', when: 'before' },
  'the next step of the scan': { within: 'UPDATE withdrawal_scan', at: 'COMMIT', nth: 2, when: 'after' },
  'the end of the scan': { within: 'DELETE FROM withdrawal_scan', at: 'COMMIT', when: 'before' },
  'a step of the candles': { within: 'UPDATE candle_progress', at: 'COMMIT', when: 'before' },
  'the next step of the candles': { within: 'UPDATE candle_progress', at: 'COMMIT', when: 'after' },
}

const kinds = bothStores()

describe.each(['sqlite', 'postgres'] as const)('%s', kind => {
  const databases: TestDatabase[] = []
  beforeEach(async () => {
    databases.splice(0, 2, await formerDatabase(kinds[kind]), await formerDatabase(kinds[kind]))
  })
  afterEach(async () => {
    for (const each of databases) await each.dispose()
  })

  test('an upgrade that is killed at every step ends like one that is not', async () => {
    const [whole, interrupted] = databases as [TestDatabase, TestDatabase]
    expect(await upgrade(whole.address, null)).toBe(null)
    for (const [name, point] of Object.entries(POINTS))
      expect(await upgrade(interrupted.address, point), name).toBe('SIGKILL')
    expect(await upgrade(interrupted.address, null)).toBe(null)

    const rows = await rowsOf(interrupted.address)
    expect(rows).toEqual(await rowsOf(whole.address))
    expect(rows['withdrawal']?.length).toBeGreaterThan(STEPS / 8)
    expect(rows['candle']?.length).toBeGreaterThan(0)
    expect(rows['withdrawal_scan']).toEqual([])
    const reader = await openReader(interrupted.address)
    expect((await checkStore(reader)).faults).toEqual([])
    await reader.close()
  }, 300_000)
})

async function formerDatabase(make: () => Promise<TestDatabase>): Promise<TestDatabase> {
  const database = await make()
  const store = await database.connect()
  for (let step = 1; step <= STEPS; step++) await store.commit(scriptedCommit(1, step))
  await database.leave()
  await toFormerSchema(database.address)
  return database
}

/** The signal that ended the process. */
async function upgrade(address: string, point: FailPoint | null): Promise<string | null> {
  const child = spawn(process.execPath, [UPGRADER, address], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...(point === null ? {} : dyingAt(point)) },
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  if (signal === null) expect(code).toBe(0)
  return signal
}
