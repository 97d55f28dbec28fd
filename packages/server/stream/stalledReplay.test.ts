/** R-stream-6: a replay that stops draining is ended however little waits in its socket, and keeps nothing from being pruned. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StoppedClock } from '../endToEnd/testing/testClock.ts'
import { until } from '../endToEnd/testing/until.ts'
import { sqliteDatabase } from '../store/testing/connect.ts'
import { commitOf, health } from '../store/testing/drafts.ts'
import { Batches } from './batches.ts'
import { parseSubscribe, type Subscription } from './filter.ts'
import { Hub } from './hub.ts'
import { Roster } from './roster.ts'
import { Subscriber } from './subscriber.ts'

const RECORDS = 1000
const SLOW_MS = 10_000

/** A socket that takes nothing by itself; the test lets bytes go. */
class StuckSink {
  readonly said: number[] = []
  closed: string | null = null
  waiting = 0
  #written: (() => void)[] = []

  write(bytes: Buffer, done: () => void): boolean {
    const lines = bytes.toString().trim().split('\n')
    this.said.push(...lines.map(line => Number.parseInt(line)))
    this.waiting += bytes.length
    this.#written.push(done)
    return false
  }

  /** As node counts: whole writes. */
  buffered(): number {
    return this.#written.length === 0 ? 0 : Math.max(1, this.waiting)
  }

  undrained(): number {
    return this.waiting
  }

  drainAll(): void {
    this.waiting = 0
    for (const done of this.#written.splice(0)) done()
  }

  close(code: number, reason: string): void {
    this.closed = `${code} ${reason}`
  }

  readonly reset = () => undefined
  readonly destroy = () => undefined
}

const batches = new Batches({ head: ({ sequence }) => Buffer.from(`${sequence} `), tail: Buffer.from('\n') })
const clock = new StoppedClock()
let database: Awaited<ReturnType<typeof sqliteDatabase>>
let store: Awaited<ReturnType<typeof database.connect>>
let hub: Hub
beforeEach(async () => {
  database = await sqliteDatabase()
  store = await database.connect()
  const records = Array.from({ length: RECORDS }, () => health(1, 'x'))
  await store.commit(commitOf(1, 1, { records }))
  hub = await Hub.open(store, clock)
})
afterEach(async () => {
  hub.close()
  await database.dispose()
})

function replay(types: readonly string[] = []) {
  const filter = { chain_ids: [1], pool_ids: [], token_ids: [], types }
  const wanted = parseSubscribe(JSON.stringify({ filter, resume_cursor: null }), new Set([1])) as Subscription
  const sink = new StuckSink()
  const subscriber = new Subscriber(sink, wanted, 0, true, { hub, store, clock, batches })
  return { sink, subscriber }
}

/** A few looks of the subscriber at its socket. */
const untilLooked = async () => {
  const { looks } = clock
  await until('some looks', () => clock.looks >= looks + 3)
}

test('a client that accepts no byte is closed, with far less than its buffer waiting, and 1013 names the last record it was sent', async () => {
  const { sink } = replay()
  await until('a page handed over', () => sink.said.length > 0)
  await untilLooked()
  expect(sink.waiting).toBeLessThan(64 * 1024)
  clock.advance(SLOW_MS - 1)
  await untilLooked()
  expect(sink.closed).toBeNull()
  clock.advance(2)
  await until('the end', () => sink.closed)
  expect(sink.closed).toBe(`1013 last_sequence=${sink.said.at(-1)}`)
})

test('a client that accepts some bytes of a write in that time is slow, and is not closed', async () => {
  const { sink, subscriber } = replay()
  await until('a page handed over', () => sink.said.length > 0)
  for (let round = 0; round < 5; round++) {
    await untilLooked()
    clock.advance(SLOW_MS - 1)
    sink.waiting -= 1
    await untilLooked()
  }
  expect(sink.closed).toBeNull()
  subscriber.stop()
})

test('pruning waits for a replay that progresses, and for none that has stalled for ten seconds, closed or not', async () => {
  const { sink, subscriber } = replay()
  const roster = new Roster(clock)
  roster.note(subscriber)
  await until('a page handed over', () => sink.said.length > 0)
  expect(roster.replayed()).toBe(sink.said.at(-1))
  clock.advance(SLOW_MS - 1)
  sink.waiting -= 1
  await untilLooked()
  clock.advance(2)
  expect(sink.closed).toBeNull()
  expect(roster.replayed()).toBeNull()
  // It reads on, and is waited for again.
  const before = sink.said.length
  sink.drainAll()
  await until('another page', () => sink.said.length > before)
  expect(roster.replayed()).toBe(sink.said.at(-1))
  subscriber.stop()
  expect(roster.replayed()).toBeNull()
})
