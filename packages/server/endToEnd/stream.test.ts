import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { parseKey } from '../access/apiKey.ts'
import type { RecordDraft } from '../store/port.ts'
import { address, health, idOf, poolFacts, poolUpsert, swap, tokenUpsert } from '../store/testing/drafts.ts'
import { CURSOR_LIFETIME_MS, sealCursor } from '../stream/cursor.ts'
import { opened, type RawSocket } from './testing/handshake.ts'
import { StoppedClock } from './testing/testClock.ts'
import { openTestGate, recordsOf, sequencesOf, type TestGate, untilHeard } from './testing/testGate.ts'
import { until } from './testing/until.ts'

const [TOKEN_A, TOKEN_B, USD] = [address('tokena'), address('tokenb'), address('usd')]
const [POOL_A, POOL_B] = [poolFacts('poola', TOKEN_A, USD), poolFacts('poolb', TOKEN_B, USD)]
const LIVE = { chain_ids: [1], pool_ids: [], token_ids: [] }

let ids = 0
/** A step as the engine would give it: a swap, its pool, its token. */
const stepOf = (chainId: number, pool = POOL_A, token = TOKEN_A): RecordDraft[] => [
  swap(chainId, pool, ++ids),
  poolUpsert({ chainId, recordId: `${chainId}-${++ids}` }, pool, ids),
  tokenUpsert({ chainId, recordId: `${chainId}-${++ids}` }, token, '1.5', [pool.poolAddress]),
]

let gate: TestGate
beforeAll(async () => {
  gate = await openTestGate()
  for (let n = 0; n < 60; n++)
    await gate.commit(
      n % 3 === 0 ? 2 : 1,
      n % 10 === 0 ? [health(n % 3 === 0 ? 2 : 1, 'HEALTHY')] : stepOf(n % 3 === 0 ? 2 : 1),
    )
})
afterAll(() => gate?.close())

async function reset(cursor: string, filter: object = LIVE, of: TestGate = gate): Promise<unknown> {
  const askedAtMs = Date.now()
  const raw = await of.subscribe(filter, cursor)
  const { code, reason } = await raw.untilClosed()
  expect(raw.frames).toHaveLength(1)
  const message = JSON.parse(raw.frames[0] ?? '') as {
    payload: { reason: string; server_time_unix_ms: number }
  }
  expect([code, reason]).toEqual([1000, message.payload.reason])
  expect(message).toEqual({
    type: 'RESET_REQUIRED',
    payload: { reason: message.payload.reason, server_time_unix_ms: expect.any(Number) },
  })
  // The clock of this machine, read between the question and now.
  expect(message.payload.server_time_unix_ms).toBeGreaterThanOrEqual(askedAtMs)
  expect(message.payload.server_time_unix_ms).toBeLessThanOrEqual(Date.now())
  return message.payload.reason
}

describe('RESET_REQUIRED', () => {
  it.each([
    ['is no cursor', () => 'hello'],
    ['is empty', () => ''],
    ['was tampered with', () => `${gate.seal().slice(0, -3)}AAA`],
    [
      'another database sealed',
      () =>
        sealCursor(new Uint8Array(32), {
          epoch: 0,
          chainId: 1,
          sequence: 0,
          schemaVersion: 1,
          issuedAtMs: Date.now(),
        }),
    ],
    ['is of another epoch', () => gate.seal({ epoch: 1, sequence: 2 ** 40 })],
    ['is ahead of the log', () => gate.seal({ sequence: 1_000_000 })],
    [
      'is entirely invalid',
      () => gate.seal({ sequence: 1_000_000, schemaVersion: 9, issuedAtMs: 0, chainId: 2 }),
    ],
  ])('INVALID_CURSOR is the answer to a cursor that %s', async (_, cursor) => {
    expect(await reset(cursor())).toBe('INVALID_CURSOR')
  })

  it('SCHEMA_MISMATCH is the answer to a cursor of another schema, before any other check', async () => {
    expect(await reset(gate.seal({ schemaVersion: 2 }))).toBe('SCHEMA_MISMATCH')
    expect(await reset(gate.seal({ schemaVersion: 0, issuedAtMs: 0, chainId: 2 }))).toBe('SCHEMA_MISMATCH')
  })

  it('EXPIRED_CURSOR is the answer to one older than three days', async () => {
    expect(await reset(gate.seal({ issuedAtMs: Date.now() - CURSOR_LIFETIME_MS - 1 }))).toBe('EXPIRED_CURSOR')
    expect(await reset(gate.seal({ issuedAtMs: 0, chainId: 2 }))).toBe('EXPIRED_CURSOR')
    const young = await gate.subscribe(
      LIVE,
      gate.seal({ issuedAtMs: Date.now() - CURSOR_LIFETIME_MS + 60_000 }),
    )
    await untilHeard(young, (await gate.sequences(1)).at(-1) ?? 0)
    await young.end()
  })

  it.each([
    ['another chain', { ...LIVE, chain_ids: [2] }],
    ['two chains', { ...LIVE, chain_ids: [1, 2] }],
    ['a pool', { ...LIVE, pool_ids: [idOf(POOL_A.poolAddress)] }],
    ['a token', { ...LIVE, token_ids: [idOf(TOKEN_A)] }],
  ])('FILTER_MISMATCH is the answer to a cursor used with a filter of %s', async (_, filter) => {
    expect(await reset(gate.seal(), filter)).toBe('FILTER_MISMATCH')
  })

  it('REPLAY_UNAVAILABLE is the answer when records after the cursor are gone', async () => {
    const pruned = await openTestGate()
    try {
      for (let n = 0; n < 5; n++) await pruned.commit(1, stepOf(1))
      await pruned.store.prune({ nowMs: Date.now() + 1, hours: 0, records: 6, batch: 100 })
      const { oldest, head } = await pruned.store.readBounds()
      expect([oldest, head]).toEqual([10, 15])
      expect(await reset(pruned.seal({ sequence: 8 }), LIVE, pruned)).toBe('REPLAY_UNAVAILABLE')
      // Nothing is missing after the last that is gone.
      const raw = await pruned.subscribe(LIVE, pruned.seal({ sequence: 9 }))
      expect(await untilHeard(raw, 15)).toEqual([10, 11, 12, 13, 14, 15])
      await raw.end()
    } finally {
      await pruned.close()
    }
  })
})

describe('a subscribe frame', () => {
  const filter = (parts: object) => ({ filter: { ...LIVE, ...parts }, resume_cursor: null })
  const two = [idOf(POOL_A.poolAddress), idOf(POOL_B.poolAddress)].sort()

  it.each([
    ['that is not JSON', '{', 'the subscribe frame is not JSON'],
    ['that is a list', '[]', 'the subscribe frame is not an object'],
    ['without a filter', {}, 'filter is missing'],
    ['with an unknown field', { ...filter({}), since: 1 }, 'unknown field "since"'],
    ['with an unknown field in its filter', filter({ chains: [1] }), 'unknown field filter."chains"'],
    [
      'with a cursor that is no text',
      { ...filter({}), resume_cursor: 7 },
      'resume_cursor is neither a string nor null',
    ],
    ['for no chain', filter({ chain_ids: [] }), 'filter.chain_ids is empty'],
    ['for chains left out', { filter: {}, resume_cursor: null }, 'filter.chain_ids is not a list'],
    [
      'for a chain that is not served',
      filter({ chain_ids: [3] }),
      'filter.chain_ids[0] is not a served chain',
    ],
    ['for a chain by name', filter({ chain_ids: ['1'] }), 'filter.chain_ids[0] is not a served chain'],
    [
      'with chains out of order',
      filter({ chain_ids: [2, 1] }),
      'filter.chain_ids is not strictly ascending at 1',
    ],
    ['with a chain twice', filter({ chain_ids: [1, 1] }), 'filter.chain_ids is not strictly ascending at 1'],
    [
      'with pools out of order',
      filter({ pool_ids: two.toReversed() }),
      'filter.pool_ids is not strictly ascending at 1',
    ],
    [
      'with a pool twice',
      filter({ pool_ids: [two[0], two[0]] }),
      'filter.pool_ids is not strictly ascending at 1',
    ],
    [
      'with a token by address',
      filter({ token_ids: [TOKEN_A] }),
      'filter.token_ids[0] is not 0x and 64 lower-case hex digits',
    ],
    [
      'with an id in upper case',
      filter({ pool_ids: [two[0]?.toUpperCase()] }),
      'filter.pool_ids[0] is not 0x and 64 lower-case hex digits',
    ],
    [
      'with an unknown type',
      filter({ types: ['PRICE'] }),
      'filter.types[0] is not one of FEED_HEALTH, PRICE_RETRACT, PRICE_UPSERT, SWAP_OBSERVED',
    ],
    [
      'with more than 500 ids',
      filter({ pool_ids: Array.from({ length: 501 }, (_, n) => idOf(address(n))) }),
      'filter.pool_ids has more than 500 entries',
    ],
    [
      'with a long name of another alphabet',
      { ...filter({}), ['価'.repeat(60)]: 1 },
      /^unknown field "価{35,37}$/,
    ],
  ])('%s closes with 1008 and one line', async (_, frame, reason) => {
    const raw = await gate.open()
    raw.send(frame)
    expect(await raw.untilClosed()).toEqual({
      code: 1008,
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    })
    expect(raw.frames).toEqual([])
  })

  it('that is binary closes with 1008', async () => {
    const raw = await gate.open()
    raw.send(Buffer.from(JSON.stringify(filter({}))))
    expect(await raw.untilClosed()).toEqual({ code: 1008, reason: 'the subscribe frame is text' })
  })

  it('may come once: a second one closes with 1008, even while the first is being checked', async () => {
    for (const cursor of [null, gate.seal()]) {
      const raw = await gate.subscribe(LIVE, cursor)
      raw.send(filter({}))
      expect(await raw.untilClosed()).toEqual({
        code: 1008,
        reason: 'only one subscribe frame per connection',
      })
    }
  })

  it('that never comes closes with 1008', async () => {
    const hasty = await openTestGate({ subscribeMs: 50 })
    const raw = await hasty.open()
    expect(await raw.untilClosed()).toEqual({ code: 1008, reason: 'no subscribe frame within 5 s' })
    await hasty.close()
  })

  it('of more than 64 KiB is not read', async () => {
    const raw = await gate.open()
    raw.send(JSON.stringify({ ...filter({}), pad: 'x'.repeat(65 * 1024) }))
    expect((await raw.untilClosed()).code).toBe(1009)
  })
})

describe('R-stream-6: a connection', () => {
  afterEach(() => vi.useRealTimers())

  it('is pinged, lives while it answers, and is closed when it does not answer by the next ping', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const pinging = await openTestGate({ pingMs: 100 })
    const answering = await pinging.subscribe(LIVE)
    let pongs = 0
    answering.socket.on('pong', () => pongs++)
    const deaf = await pinging.open({ autoPong: false })
    deaf.send({ filter: LIVE, resume_cursor: null })
    for (let pings = 1; pings <= 3; pings++) {
      vi.advanceTimersByTime(100)
      await until('pinged', () => answering.pings === pings && deaf.pings === 1)
      // The gate has had our answer by the time it answers a ping of ours.
      answering.socket.ping()
      await until('answered', () => pongs === pings)
    }
    expect(await deaf.untilClosed()).toEqual({ code: 1006, reason: '' })
    expect(deaf.pings).toBe(1)
    expect(answering.closed).toBeNull()
    await pinging.close()
  })

  it('of a key that is revoked elsewhere is closed with 1008 within five seconds', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const clock = new StoppedClock()
    const revoking = await openTestGate({ clock })
    const headers = await revoking.headers()
    const { keyId } = parseKey(headers.authorization.slice('Bearer '.length)) ?? {}
    const raw = await opened(revoking.url, { headers })
    raw.send({ filter: LIVE, resume_cursor: null })
    await until('heard', async () => {
      await revoking.commit(1, stepOf(1))
      return raw.frames.length > 0
    })
    await revoking.store.revokeKey(keyId ?? '', clock.nowMs())
    for (let passedMs = 0; passedMs < 5000; passedMs += 500) {
      clock.advance(500)
      vi.advanceTimersByTime(500)
    }
    expect(await raw.untilClosed()).toEqual({
      code: 1008,
      reason: 'the credential was revoked or has expired',
    })
    await revoking.close()
  })

  it('without a cursor receives only later records', async () => {
    const before = (await gate.sequences(1)).at(-1) ?? 0
    const raw = await gate.subscribe(LIVE)
    // Live from the moment the frame was accepted: two more until one arrives, and none is missed from there on.
    await until('something received', async () => {
      await gate.commit(1, stepOf(1))
      return raw.frames.length > 0
    })
    const last = await gate.commit(1, stepOf(1))
    const heard = await untilHeard(raw, last)
    expect(heard).toEqual(await gate.sequences(1, (heard[0] ?? 0) - 1))
    expect(heard[0]).toBeGreaterThan(before)
    await raw.end()
  })

  it('is closed with a time to reconnect when the service restarts', async () => {
    const closing = await openTestGate()
    const [subscribed, silent] = [await closing.subscribe(LIVE), await closing.open()]
    await closing.commit(1, stepOf(1))
    await until('heard', () => subscribed.frames.length > 0)
    closing.gate.close()
    for (const raw of [subscribed, silent])
      expect(await raw.untilClosed()).toEqual({
        code: 1012,
        reason: expect.stringMatching(/^restarting; retry_after_ms=[0-9]{3,4}$/),
      })
    await closing.close()
  })
})

describe('a filter', () => {
  const heardWith = async (filter: object): Promise<string[]> => {
    const raw = await gate.subscribe({ ...LIVE, ...filter, types: [] })
    return collect(raw)
  }
  /** What a subscriber receives of one round of everything, from the first marker to the last. */
  async function collect(raw: RawSocket): Promise<string[]> {
    await until('live', async () => {
      await gate.commit(1, [health(1, 'MARK')])
      return raw.frames.length > 0
    })
    const first = await gate.commit(1, [...stepOf(1), ...stepOf(1, POOL_B, TOKEN_B)])
    await gate.commit(2, stepOf(2))
    const last = await gate.commit(1, [health(1, 'DEGRADED')])
    await untilHeard(raw, last)
    await raw.end()
    return recordsOf(raw)
      .filter(record => record.stream_sequence > first - 6)
      .map(({ type, routing, payload }) =>
        type === 'FEED_HEALTH'
          ? 'health'
          : `${'scope' in payload ? payload.scope : 'swap'} ${routing.pool_ids.some(id => id === idOf(POOL_A.poolAddress)) ? 'A' : 'B'}`,
      )
  }

  it('of a pool passes its swaps, its states and the tokens on it, and health', async () => {
    expect(await heardWith({ pool_ids: [idOf(POOL_A.poolAddress)] })).toEqual([
      'swap A',
      'pool A',
      'token A',
      'health',
    ])
  })

  it('of a token passes what is routed to it', async () => {
    expect(await heardWith({ token_ids: [idOf(TOKEN_B)] })).toEqual(['swap B', 'pool B', 'token B', 'health'])
  })

  it('of both passes what is in both', async () => {
    expect(await heardWith({ pool_ids: [idOf(POOL_A.poolAddress)], token_ids: [idOf(TOKEN_B)] })).toEqual([
      'health',
    ])
    expect(await heardWith({ pool_ids: [idOf(POOL_A.poolAddress)], token_ids: [idOf(USD)].sort() })).toEqual([
      'swap A',
      'pool A',
      'health',
    ])
  })

  it('of types passes these, with a cursor too', async () => {
    const raw = await gate.subscribe({ ...LIVE, types: ['FEED_HEALTH', 'SWAP_OBSERVED'] }, gate.seal())
    const last = await gate.commit(1, [...stepOf(1), health(1, 'HEALTHY')])
    await untilHeard(raw, last)
    const whole = await gate.store.readLog(0, 1000, 1)
    const wanted = whole.filter(each => each.type === 'SWAP_OBSERVED' || each.type === 'FEED_HEALTH')
    expect(sequencesOf(raw)).toEqual(wanted.map(each => each.sequence))
    await raw.end()
  })
})

describe('replay', () => {
  it('continues into live without a gap and without a repetition, from every tenth record on', async () => {
    const before = await gate.sequences(1)
    const offsets = [0, ...before.filter((_, at) => at % 10 === 9)]
    let isWriting = true
    // The log grows while they read.
    const writing = (async () => {
      while (isWriting) {
        await gate.commit(1, stepOf(1))
        await gate.commit(2, stepOf(2))
        await new Promise(setImmediate)
      }
    })()
    const readers = await Promise.all(
      offsets.map(async sequence => ({
        sequence,
        raw: await gate.subscribe(LIVE, gate.seal({ sequence })),
      })),
    )
    const end = before.at(-1) ?? 0
    for (const { raw } of readers) await until('in live', () => (sequencesOf(raw).at(-1) ?? 0) > end + 6)
    isWriting = false
    await writing
    const last = await gate.commit(1, stepOf(1))
    for (const { sequence, raw } of readers)
      expect(await untilHeard(raw, last)).toEqual(await gate.sequences(1, sequence))
    expect(offsets.length).toBeGreaterThan(8)
    await Promise.all(readers.map(({ raw }) => raw.end()))
  })

  it('of a long log arrives whole, in order and byte for byte', async () => {
    const raw = await gate.subscribe({ ...LIVE, chain_ids: [2] }, gate.seal({ chainId: 2 }))
    const stored = await gate.sequences(2)
    await untilHeard(raw, stored.at(-1) ?? 0)
    const page = await gate.store.readLog(0, 1000, 2)
    expect(raw.frames.slice(0, page.length)).toEqual(page.map(({ envelope }) => envelope))
    await raw.end()
  })
})

describe('R-stream-6: a consumer that stops reading', () => {
  /** Past what the kernel takes over: some megabytes. */
  const RECORDS = 400
  const bulky = (chainId: number): RecordDraft => ({
    ...health(chainId, 'HEALTHY'),
    payload: { chain_id: chainId, status: 'HEALTHY', pad: 'x'.repeat(50_000) },
  })

  const fill = async (slow: TestGate) => {
    let last = 0
    for (let n = 0; n < RECORDS; n += 20)
      last = await slow.commit(
        1,
        Array.from({ length: 20 }, () => bulky(1)),
      )
    await until('all of it seen', () => slow.seen >= last)
  }
  /** A live reader that has stopped. */
  const stuck = async (slow: TestGate) => {
    const raw = await slow.subscribe(LIVE)
    await until('live', async () => {
      await slow.commit(1, [health(1, 'MARK')])
      return raw.frames.length > 0
    })
    raw.socket.pause()
    await fill(slow)
    return raw
  }
  /** Checks run while nothing else looks at the clock: the socket is stuck. */
  const untilChecked = (clock: StoppedClock, times: number) => {
    const { looks } = clock
    return until('a check', () => clock.looks >= looks + times)
  }

  it.each(['live', 'in its replay'])(
    'is closed with 1013 that names the last record written, %s, and can resume from there',
    async when => {
      const clock = new StoppedClock()
      const slow = await openTestGate({ clock, slowMs: 1000, maxBuffered: 64 * 1024 })
      try {
        const raw = when === 'live' ? await stuck(slow) : await slow.open()
        if (when !== 'live') {
          await fill(slow)
          raw.socket.pause()
          raw.send({ filter: LIVE, resume_cursor: slow.seal() })
        }
        await untilChecked(clock, 4)
        clock.advance(1001)
        await untilChecked(clock, 1)
        raw.socket.resume()
        const { code, reason } = await raw.untilClosed()
        expect(code).toBe(1013)
        const last = Number(/^last_sequence=(\d+)$/.exec(reason)?.[1])
        const [heard, whole] = [sequencesOf(raw), await slow.sequences(1)]
        expect(heard).toEqual(whole.slice(whole.indexOf(heard[0] ?? 0)).slice(0, heard.length))
        expect(heard.length).toBeLessThan(RECORDS)
        // The close follows everything written to the socket, so a client that reads it has all of that.
        expect(last).toBe(heard.at(-1))
        const resumed = await slow.subscribe(LIVE, slow.seal({ sequence: last }))
        expect(await untilHeard(resumed, whole.at(-1) ?? 0)).toEqual(whole.filter(each => each > last))
        await resumed.end()
      } finally {
        await slow.close()
      }
    },
  )

  it('is judged by monotonic time, not by the wall clock', async () => {
    const clock = new StoppedClock()
    const slow = await openTestGate({ clock, slowMs: 1000, maxBuffered: 64 * 1024 })
    try {
      const raw = await stuck(slow)
      for (const hour of [3_600_000, -7_200_000]) {
        clock.set(hour)
        clock.advance(400)
        await untilChecked(clock, 4)
      }
      raw.socket.resume()
      const whole = await slow.sequences(1)
      const heard = await untilHeard(raw, whole.at(-1) ?? 0)
      expect(heard).toEqual(whole.slice(whole.indexOf(heard[0] ?? 0)))
      await raw.end()
    } finally {
      await slow.close()
    }
  })

  it('is closed five seconds later even if it never reads the close', async () => {
    const clock = new StoppedClock()
    const slow = await openTestGate({ clock, slowMs: 1000, maxBuffered: 64 * 1024 })
    try {
      await fill(slow)
      const raw = await slow.open()
      raw.socket.pause()
      raw.send({ filter: LIVE, resume_cursor: slow.seal() })
      await untilChecked(clock, 2)
      clock.advance(1001)
      expect(slow.gate.connections).toBe(1)
      await until('the socket gone', () => slow.gate.connections === 0)
      await raw.end()
    } finally {
      await slow.close()
    }
  })
})
