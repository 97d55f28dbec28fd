import { expect, test } from 'vitest'
import { systemClock } from '../ops/clock.ts'
import { until } from '../endToEnd/testing/until.ts'
import { sqliteDatabase } from '../store/testing/connect.ts'
import { commitOf, health } from '../store/testing/drafts.ts'
import { Batches } from './batches.ts'
import { parseSubscribe, type Subscription } from './filter.ts'
import { Hub } from './hub.ts'
import { Subscriber } from './subscriber.ts'

const RECORDS = 1500

test('a replay whose records another node prunes ends with 1013, never with a gap', async () => {
  const database = await sqliteDatabase()
  const store = await database.connect()
  for (let step = 1; step <= 15; step++)
    await store.commit(
      commitOf(1, step, { records: Array.from({ length: RECORDS / 15 }, () => health(1, 'x')) }),
    )
  const hub = await Hub.open(store, systemClock)
  const filter = { chain_ids: [1], pool_ids: [], token_ids: [] }
  const wanted = parseSubscribe(JSON.stringify({ filter, resume_cursor: null }), new Set([1]))
  const [said, closed]: [number[], [number, string][]] = [[], []]
  let hasRoom = true
  const sink = {
    write(bytes: Buffer) {
      said.push(
        ...bytes
          .toString()
          .trim()
          .split('\n')
          .map(line => Number.parseInt(line)),
      )
      // Full until the log has been pruned.
      hasRoom = false
      return true
    },
    buffered: () => (hasRoom ? 0 : Number.MAX_SAFE_INTEGER),
    undrained: () => 0,
    close: (code: number, reason: string) => void closed.push([code, reason]),
    destroy: () => undefined,
    reset: () => undefined,
  }
  const batches = new Batches({
    head: ({ sequence }) => Buffer.from(`${sequence} `),
    tail: Buffer.from('\n'),
  })
  const subscriber = new Subscriber(sink, wanted as Subscription, 0, true, {
    hub,
    store,
    clock: systemClock,
    batches,
  })
  await until('a first write', () => said.length > 0)
  await store.prune({ nowMs: Date.now(), hours: 0, records: 100, batch: 500 })
  expect((await store.readBounds()).oldest).toBeGreaterThan(said.length + 1)
  hasRoom = true
  await until('closed', () => closed.length > 0)
  expect(closed[0]?.[0]).toBe(1013)
  expect(said).toEqual(said.map((_, at) => at + 1))
  expect(said.length).toBeLessThan(RECORDS)
  subscriber.stop()
  hub.close()
  await database.dispose()
})
