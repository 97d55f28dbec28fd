/** A receiver that fails for a day, by a clock that the test moves: its webhook is parked, and continues when it is resumed. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Clock } from '../ops/clock.ts'
import { QUIET } from '../ops/testing/quiet.ts'
import { until } from '../endToEnd/testing/until.ts'
import { sqliteDatabase, type TestDatabase } from '../store/testing/connect.ts'
import { key } from '../store/testing/drafts.ts'
import { Hub } from '../stream/hub.ts'
import { addressRule } from './publicAddress.ts'
import { Sender } from './sender.ts'
import { makeSecret } from './signature.ts'
import { resolveByName } from './target.ts'
import { MANNERS, Receiver } from './testing/receiver.ts'
import { CHAIN, marketCommit } from './testing/script.ts'

const HOUR_MS = 3_600_000

let database: TestDatabase
let receiver: Receiver
beforeEach(async () => {
  database = await sqliteDatabase()
  receiver = await Receiver.open()
})
afterEach(async () => {
  await receiver.close()
  await database.dispose()
})

test('it is retried for a day from its first attempt, then parked with its reason, and resumed it begins another day', async () => {
  let nowMs = 1_763_000_000_000
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() }
  const store = await database.connect()
  await store.insertKey({ ...key('acme'), scopes: ['stream'] })
  const webhook = {
    webhookId: 'w',
    consumer: 'acme',
    name: 'a',
    url: receiver.url,
    condition: JSON.stringify({ kind: 'retracted', chain_id: CHAIN }),
    secret: makeSecret(),
    createdAtMs: nowMs,
    position: 0,
    memory: null,
  }
  await store.insertWebhook(webhook, 10)
  const hub = await Hub.open(store, clock)
  const sender = new Sender({
    store,
    hub,
    sending: { isAllowed: addressRule(['127.0.0.1']), resolve: resolveByName, clock },
    clock,
    log: QUIET,
    owner: 'test',
    isAlone: true,
    pauseMs: () => 0,
  })
  const stateOf = async () => {
    const row = await store.readWebhook('w')
    return [row?.state, row?.reason]
  }
  // An hour passes with every attempt.
  receiver.manner = () => {
    nowMs += HOUR_MS
    return MANNERS.failing
  }
  // The fifth step has the first retraction; the one of the tenth waits behind it.
  for (let step = 1; step <= 10; step++) await store.commit(marketCommit(step))
  hub.wake()
  await until('parked', async () => (await stateOf())[0] === 'PARKED')
  expect(await stateOf()).toEqual(['PARKED', 'a delivery failed for a day, most recently with: status 500'])
  const { ids, received } = receiver
  // An attempt is counted from its outcome: the first at one hour, the last at the end of the day.
  expect([ids.length, received.length]).toEqual([1, 25])
  expect(await store.readPending('w', 10)).toHaveLength(2)

  // Parked, it is left alone; resumed, it fails once more and is not parked again at once.
  let failures = 1
  receiver.manner = () => (failures-- > 0 ? MANNERS.failing : MANNERS.well)
  await store.setWebhookState('w', 'ACTIVE', null)
  sender.changed()
  await until('delivered', () => receiver.ids.length === 2)
  await until('noted', async () => (await store.readPending('w', 10)).length === 0)
  expect(received.map(({ id }) => id)).toEqual([...Array.from({ length: 27 }, () => ids[0]), receiver.ids[1]])
  expect(new Set(received.slice(0, 27).map(({ body }) => body)).size).toBe(1)
  expect(await stateOf()).toEqual(['ACTIVE', null])
  await sender.close()
  hub.close()
})
