/** The faults of the stream, each by its row: what a broken, slow, hostile or unlucky client does, and what it gets. */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startTcpProxy } from '../../feed/testing/tcpProxy.ts'
import type { RecordDraft } from '../../store/port.ts'
import { health } from '../../store/testing/drafts.ts'
import { StoreError } from '../../store/storeError.ts'
import { handshake, opened, RawSocket, refused } from '../testing/handshake.ts'
import { heldMib, progressOf } from '../testing/longRun.ts'
import { block } from '../testing/loopBlock.ts'
import { type FrameParts, frame, RawClient } from '../testing/rawFrames.ts'
import { StoppedClock } from '../testing/testClock.ts'
import { openTestGate, sequencesOf, type TestGate, untilHeard } from '../testing/testGate.ts'
import { until } from '../testing/until.ts'
import { seedOfRun } from '../../../world/seed.ts'

const LIVE = { chain_ids: [1], pool_ids: [], token_ids: [] }
const RANDOM_FRAMES = Number(process.env['ASSAY_STREAM_FRAMES'] ?? 5000)
const SEED = seedOfRun()
/** Clients at once. */
const LANES = 10
/** What random frames may leave behind, in all: a kilobyte for each connection of the long form would be thirty. */
const MOST_GROWTH_MIB = 8
const SUBSCRIBE = JSON.stringify({ filter: LIVE, resume_cursor: null })

let gate: TestGate
let authorization: string
beforeAll(async () => {
  gate = await openTestGate({ roster: { burst: 1e6 } })
  authorization = (await gate.headers()).authorization
  for (let n = 0; n < 20; n++) await gate.commit(1, [health(1, 'HEALTHY')])
})
afterAll(() => gate?.close())

/** A sequence of numbers that a printed seed gives again. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const padded = (bytes: number): RecordDraft => ({
  ...health(1, 'HEALTHY'),
  payload: { chain_id: 1, status: 'HEALTHY', pad: 'x'.repeat(bytes) },
})

/** RFC 6455 §7.4.2: codes that are nobody's but the two ends'. */
const isOwnCode = (code: number): boolean => code >= 3000 && code < 5000

/** It still serves: a new subscriber receives a new record. */
async function expectAlive(of: TestGate = gate): Promise<void> {
  const raw = await of.subscribe(LIVE, of.seal())
  const last = await of.commit(1, [health(1, 'HEALTHY')])
  await untilHeard(raw, last)
  await raw.end()
}

describe('W12 malformed frames', () => {
  const KINDS: readonly (readonly [string, number, FrameParts | Buffer])[] = [
    ['an unmasked frame', 1002, { masked: false, payload: SUBSCRIBE }],
    ['a reserved bit', 1002, { rsv: 4, payload: SUBSCRIBE }],
    ['two reserved bits', 1002, { rsv: 3, payload: SUBSCRIBE }],
    ['an unknown data opcode', 1002, { opcode: 3, payload: 'x' }],
    ['an unknown control opcode', 1002, { opcode: 11, payload: 'x' }],
    ['a control frame in parts', 1002, { opcode: 9, fin: false, payload: 'x' }],
    ['a control frame past 125 bytes', 1002, { opcode: 9, payload: 'x'.repeat(126) }],
    ['a continuation of nothing', 1002, { opcode: 0, payload: 'x' }],
    ['a close of one byte', 1002, { opcode: 8, payload: 'x' }],
    ['a close with an unassigned code', 1002, { opcode: 8, payload: Buffer.from([3, 237]) }],
    ['text that is not UTF-8', 1007, { payload: Buffer.from([0xc3, 0x28]) }],
    ['a frame past 64 KiB', 1009, { payload: 'x'.repeat(64 * 1024 + 1) }],
    ['a length of 2^63', 1009, Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])],
    [
      'a second message inside a first',
      1002,
      Buffer.concat([frame({ fin: false, payload: '{' }), frame({ payload: '}' })]),
    ],
    ['a binary message', 1008, { opcode: 2, payload: SUBSCRIBE }],
    ['JSON a hundred thousand deep', 1008, { payload: '['.repeat(60_000) }],
    [
      'an unknown __proto__ field',
      1008,
      { payload: '{"__proto__":{"filter":1},"filter":{"chain_ids":[1]},"x":1}' },
    ],
  ]

  it.each(KINDS)('%s is answered with %i, and no other client notices', async (_, code, parts) => {
    const neighbour = await gate.subscribe(LIVE)
    const client = await RawClient.open(gate.url, authorization)
    client.write(Buffer.isBuffer(parts) ? parts : frame(parts))
    expect(await client.closeCode()).toBe(code)
    client.end()
    const last = await gate.commit(1, [health(1, 'HEALTHY')])
    await until(
      'the neighbour receives it',
      () => sequencesOf(neighbour).includes(last) || neighbour.closed !== null || null,
    )
    expect(neighbour.closed).toBeNull()
    await neighbour.end()
  })

  it('a message in ten thousand parts is read as one', async () => {
    const client = await RawClient.open(gate.url, authorization)
    const pad = ' '.repeat(10_000 - SUBSCRIBE.length)
    const parts = `${SUBSCRIBE}${pad}`
      .split('')
      .map((payload, at) => frame({ opcode: at === 0 ? 1 : 0, fin: at === 9999, payload }))
    client.write(Buffer.concat(parts))
    // A second message is refused as the second: the first was taken.
    client.write(frame({ payload: '{}' }))
    expect(await client.closeCode()).toBe(1008)
    client.end()
  })

  it(`${RANDOM_FRAMES} random ones crash nothing and leave nothing behind (seed ${SEED})`, async () => {
    const codes = new Set<number | null>()
    const progress = progressOf('random frames', RANDOM_FRAMES)
    let all = 0
    const lane = async (seed: number, frames: number) => {
      const random = randomOf(seed)
      const pick = (from: number, to: number) => from + Math.floor(random() * (to - from))
      for (let sent = 0; sent < frames / LANES; ) {
        progress(all)
        const client = await RawClient.open(gate.url, authorization)
        const bytes: Buffer[] = []
        // A code of the client's own is given back to it.
        const echoes = new Set<number | null>()
        // What follows a broken frame is not read: several in one connection test the first, mostly.
        for (let n = pick(1, 12); n > 0; n--, sent++, all++) {
          const size = random() < 0.05 ? pick(0, 70_000) : pick(0, 200)
          const payload = Buffer.alloc(size, pick(0, 256))
          if (size >= 2 && isOwnCode(payload.readUInt16BE())) echoes.add(payload.readUInt16BE())
          if (random() < 0.3) payload.write(SUBSCRIBE.slice(0, pick(0, SUBSCRIBE.length + 1)))
          bytes.push(
            frame({
              fin: random() < 0.8,
              rsv: random() < 0.8 ? 0 : pick(0, 8),
              opcode: random() < 0.5 ? 1 : pick(0, 16),
              masked: random() < 0.9,
              payload,
              ...(random() < 0.05 ? { length: pick(0, 100_000) } : {}),
            }),
          )
        }
        client.write(Buffer.concat(bytes))
        // A whole close of our own, in case all of it was fine or is waited on.
        client.write(frame({ opcode: 8, payload: Buffer.from([3, 232]) }))
        client.write(Buffer.alloc(140_000, 0x88))
        const code = await client.closeCode()
        if (!echoes.has(code)) codes.add(code)
        client.end()
      }
    }
    const lanes = (seed: number, frames: number) =>
      Promise.all(Array.from({ length: LANES }, (_, at) => lane(seed + at, frames)))
    // The first tenth fills caches and compiles; what the rest adds would be a leak.
    await lanes(SEED, RANDOM_FRAMES / 10)
    await until('every connection gone', () => gate.gate.connections === 0)
    const before = heldMib()
    await lanes(SEED + LANES, RANDOM_FRAMES - all)
    expect([...codes].filter(code => ![1000, 1002, 1007, 1008, 1009, 1005, null].includes(code))).toEqual([])
    await until('every connection gone', () => gate.gate.connections === 0)
    expect(heldMib() - before).toBeLessThan(MOST_GROWTH_MIB)
    await expectAlive()
  }, 1_800_000)
})

it.each([
  '//',
  '//[',
  '/v1/stream/',
  '/v1//stream',
  '/%76%31/stream',
  'http://[',
  '*',
  '/\\',
  '/v1/stream%00',
])('an upgrade of %j is 404', async path => {
  const { hostname, port } = new URL(gate.url)
  const request = get({
    hostname,
    port,
    path,
    headers: {
      authorization,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  expect(response.statusCode).toBe(404)
})

it('W1 a stream cut at a random byte is resumed without a gap and without a repetition', async () => {
  const proxy = await startTcpProxy(Number(new URL(gate.url).port))
  const heard: number[] = []
  const whole = await gate.sequences(1)
  const random = randomOf(SEED)
  while (heard.at(-1) !== whole.at(-1)) {
    const raw = await opened(`http://127.0.0.1:${proxy.port}`, { headers: { authorization } })
    raw.send({ filter: LIVE, resume_cursor: gate.seal({ sequence: heard.at(-1) ?? 0 }) })
    const wanted = Math.floor(random() * 8)
    await until('some received it', () => raw.frames.length >= Math.min(wanted, whole.length - heard.length))
    proxy.cut()
    await raw.untilClosed()
    heard.push(...sequencesOf(raw))
  }
  expect(heard).toEqual(whole)
  await proxy.close()
})

it('W11 without a subscribe frame in time is 1008', async () => {
  const hasty = await openTestGate({ subscribeMs: 50 })
  const client = await RawClient.open(hasty.url, (await hasty.headers()).authorization)
  expect(await client.closeCode()).toBe(1008)
  client.end()
  await hasty.close()
})

it('W11 a subscribe frame that arrived while the server was blocked counts as in time', async () => {
  const busy = await openTestGate({ subscribeMs: 1000 })
  const last = await busy.commit(1, [health(1, 'HEALTHY')])
  const raw = await busy.subscribe(LIVE, busy.seal())
  block(1500)
  expect(await untilHeard(raw, last)).toEqual([last])
  await raw.end()
  await busy.close()
})

it('W15 a flood of pings is 1008, and so is one of unsolicited pongs; a few are answered', async () => {
  for (const opcode of [9, 10]) {
    const raw = await gate.subscribe(LIVE)
    for (let n = 0; n < 100; n++) raw.socket.ping()
    const client = await RawClient.open(gate.url, authorization)
    client.write(frame({ payload: SUBSCRIBE }))
    client.write(Buffer.concat(Array.from({ length: 500 }, () => frame({ opcode, payload: 'x' }))))
    expect(await client.closeCode()).toBe(1008)
    client.end()
    expect(raw.closed).toBeNull()
    await raw.end()
  }
})

it('W7 W9 a client that stops reading is closed with 1013, its memory freed, and five hundred others receive everything', async () => {
  const clock = new StoppedClock()
  const busy = await openTestGate({ clock, slowMs: 1500, maxBuffered: 64 * 1024, roster: { burst: 1e6 } })
  try {
    const healthy: RawSocket[] = []
    for (let n = 0; n < 500; n++) healthy.push(await busy.subscribe(LIVE))
    const stalled: RawSocket[] = []
    for (let n = 0; n < 20; n++) stalled.push(await busy.subscribe(LIVE))
    await until('all live', async () => {
      await busy.commit(1, [health(1, 'MARK')])
      return [...healthy, ...stalled].every(each => each.frames.length > 0)
    })
    for (const each of stalled) each.socket.pause()
    const from = (await busy.sequences(1)).at(-1) ?? 0
    // A few megabytes each, past what the kernel takes over, in steps as blocks come.
    for (let n = 0; n < 60; n++) {
      const last = await busy.commit(1, [padded(60_000), padded(60_000)])
      await until('the healthy have it', () =>
        healthy.every(each => each.frames.length > 0 && lastOf(each) >= last),
      )
      for (const each of healthy) each.frames.splice(0, each.frames.length - 1)
      clock.advance(100)
      if (busy.gate.connections === healthy.length) break
    }
    await until('the stalled gone', () => busy.gate.connections === healthy.length)
    for (const each of healthy) expect(each.closed).toBeNull()
    for (const each of stalled) {
      each.socket.resume()
      const { code, reason } = await each.untilClosed()
      // Those whose close never got through are cut.
      expect([1013, 1006]).toContain(code)
      if (code === 1013)
        expect(Number(/^last_sequence=(\d+)$/.exec(reason)?.[1])).toBeGreaterThanOrEqual(from - 3)
    }
    await Promise.all(healthy.map(each => each.end()))
  } finally {
    await busy.close()
  }
})

it('W7 two hundred that stop reading among seven hundred: the others receive everything, and all two hundred are closed within 15 s', async () => {
  const clock = new StoppedClock()
  const busy = await openTestGate({ clock, roster: { burst: 1e6 } })
  try {
    const healthy: RawSocket[] = []
    for (let n = 0; n < 500; n++) healthy.push(await busy.subscribe(LIVE))
    const stalled: RawSocket[] = []
    for (let n = 0; n < 200; n++) stalled.push(await busy.subscribe({ ...LIVE, chain_ids: [1, 2] }))
    await until('all live', async () => {
      await busy.commit(1, [health(1, 'MARK')])
      return [...healthy, ...stalled].every(each => each.frames.length > 0)
    })
    for (const each of stalled) each.socket.pause()
    // Past what the kernel takes over for them, on a chain that only they listen to.
    for (let n = 0; n < 10; n++) await busy.commit(2, [{ ...padded(900_000), routing: NOWHERE }])
    const from = (await busy.sequences(1)).at(-1) ?? 0
    for (let second = 0; second < 15; second++) {
      clock.advance(1000)
      const last = await busy.commit(1, [padded(1000)])
      await until('all healthy ones have it', () => healthy.every(each => lastOf(each) >= last))
    }
    await until('the stalled gone', () => busy.gate.connections === healthy.length)
    const whole = await busy.sequences(1, from)
    for (const each of healthy) {
      expect(each.closed).toBeNull()
      expect(sequencesOf(each).filter(sequence => sequence > from)).toEqual(whole)
    }
    await Promise.all([...healthy, ...stalled].map(each => each.end()))
  } finally {
    await busy.close()
  }
})

const NOWHERE = { chain_id: 2, pool_ids: [], token_ids: [] }

const lastOf = (raw: RawSocket): number =>
  Number(/"stream_sequence":(\d+)/.exec(raw.frames.at(-1) ?? '')?.[1] ?? -1)

it('W10 a long replay is paged: it obeys the buffer limit and delays no other client', async () => {
  const long = await openTestGate({ roster: { burst: 1e6 } })
  try {
    for (let n = 0; n < 40; n++)
      await long.commit(
        1,
        Array.from({ length: 500 }, () => health(1, 'HEALTHY')),
      )
    const live = await long.subscribe(LIVE)
    await until('live', async () => {
      await long.commit(1, [health(1, 'MARK')])
      return live.frames.length > 0
    })
    const reader = await long.subscribe(LIVE, long.seal())
    await until('in its replay', () => reader.frames.length > 0)
    const last = await long.commit(1, [health(1, 'DEGRADED')])
    await untilHeard(live, last)
    await until('all of it', () => lastOf(reader) >= last)
    expect(sequencesOf(reader)).toEqual(await long.sequences(1))
    await Promise.all([live.end(), reader.end()])
  } finally {
    await long.close()
  }
})

it('W17 a planned restart closes a thousand clients with 1012, each with a time to reconnect, and they resume where they were', async () => {
  const first = await openTestGate({ roster: { burst: 1e6 } })
  const clients: RawSocket[] = []
  for (let n = 0; n < 1000; n++) clients.push(await first.subscribe(LIVE))
  await until('live', async () => {
    await first.commit(1, [health(1, 'MARK')])
    return clients.every(each => each.frames.length > 0)
  })
  first.gate.close()
  const hints = new Set<string>()
  for (const each of clients) {
    const { code, reason } = await each.untilClosed()
    expect(code).toBe(1012)
    hints.add(reason)
  }
  for (const hint of hints) expect(hint).toMatch(/^restarting; retry_after_ms=[0-9]{3,4}$/)
  expect(hints.size).toBeGreaterThan(100)
  await first.close()
})

it('W18 a herd is admitted at a limited rate: beyond the burst 503 with Retry-After, and the feed continues', async () => {
  const clock = new StoppedClock()
  const herd = await openTestGate({ clock, roster: { burst: 40, perSecond: 20 } })
  try {
    const one = await herd.subscribe(LIVE)
    const answers = await Promise.all(
      Array.from({ length: 300 }, async () => handshake(herd.url, { headers: await herd.headers() })),
    )
    const turnedAway = answers.flatMap(each => (each instanceof RawSocket ? [] : [each]))
    // One of the burst is in already.
    expect(turnedAway).toHaveLength(300 - 39)
    for (const { status, headers, text } of turnedAway) {
      expect([status, text]).toEqual([503, ''])
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1)
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(5)
    }
    expect(new Set(turnedAway.map(each => each.headers['retry-after'])).size).toBeGreaterThan(2)
    const last = await herd.commit(1, [health(1, 'HEALTHY')])
    await until('heard', () => lastOf(one) >= last)
    // Later there is room again.
    clock.advance(1000)
    await until('room', async () => {
      const again = await handshake(herd.url, { headers: await herd.headers() })
      if (!(again instanceof RawSocket)) return false
      await again.end()
      return true
    })
    for (const each of answers) if (each instanceof RawSocket) await each.end()
    await one.end()
  } finally {
    await herd.close()
  }
})

it('W18 beyond the most that fit at once 503, for any client', async () => {
  const full = await openTestGate({ roster: { most: 2 } })
  const [a, b] = [await full.subscribe(LIVE), await full.subscribe(LIVE)]
  expect((await refused(full.url, { headers: await full.headers() })).status).toBe(503)
  await Promise.all([a.end(), b.end()])
  await until('gone', () => full.gate.connections === 0)
  await (await full.open()).end()
  await full.close()
})

it.each([
  ['busy', new StoreError('STORE_BUSY', 'other processes hold the write lock'), 503, '1'],
  ['broken', new StoreError('STORE_IO', 'the device failed'), 500, undefined],
])(
  'a handshake that finds the database %s is answered with whether to retry',
  async (_, failure, status, after) => {
    const gate = await openTestGate()
    const headers = await gate.headers()
    const readKey = vi.spyOn(gate.store, 'readKey').mockRejectedValue(failure)
    const answer = await refused(gate.url, { headers })
    expect([answer.status, answer.headers['retry-after'], answer.text]).toEqual([status, after, ''])
    readKey.mockRestore()
    await (await gate.open()).end()
    await gate.close()
  },
)

it('W19 a connection that a proxy would call idle is kept alive by pings, and one it cuts is resumed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const pinging = await openTestGate({ pingMs: 60 })
  const proxy = await startTcpProxy(Number(new URL(pinging.url).port))
  const headers = await pinging.headers()
  const last = await pinging.commit(1, [health(1, 'HEALTHY')])
  const raw = await opened(`http://127.0.0.1:${proxy.port}`, { headers })
  raw.send({ filter: LIVE, resume_cursor: pinging.seal() })
  let pongs = 0
  raw.socket.on('pong', () => pongs++)
  for (let pings = 1; pings <= 3; pings++) {
    vi.advanceTimersByTime(60)
    await until('pinged', () => raw.pings === pings)
    // The gate has had our answer by the time it answers a ping of ours.
    raw.socket.ping()
    await until('answered', () => pongs === pings)
  }
  expect(raw.closed).toBeNull()
  proxy.cut()
  await raw.untilClosed()
  const next = await pinging.commit(1, [health(1, 'DEGRADED')])
  const again = await opened(`http://127.0.0.1:${proxy.port}`, { headers })
  again.send({ filter: LIVE, resume_cursor: pinging.seal({ sequence: last }) })
  expect(await untilHeard(again, next)).toEqual([next])
  await again.end()
  await proxy.close()
  await pinging.close()
})

it('R-cursor-2: a new log under a running service resets its subscribers, live and in a replay, and no others', async () => {
  const restored = await openTestGate()
  try {
    for (let n = 0; n < 5; n++) await restored.commit(1, [health(1, 'HEALTHY')])
    const live = await restored.subscribe(LIVE)
    const resumed = await restored.subscribe(LIVE, restored.seal({ sequence: 2 }))
    await until('both receive it', async () => {
      await restored.commit(1, [health(1, 'MARK')])
      return live.frames.length > 0 && resumed.frames.length > 0
    })
    const before = (await restored.sequences(1)).at(-1) ?? 0
    const { epoch } = await restored.store.startEpoch()
    const first = await restored.commit(1, [health(1, 'DEGRADED')])
    expect(first).toBeGreaterThan(epoch * 2 ** 40)
    for (const each of [live, resumed]) {
      expect(await each.untilClosed()).toEqual({ code: 1000, reason: 'INVALID_CURSOR' })
      expect(JSON.parse(each.frames.at(-1) ?? '')).toMatchObject({
        type: 'RESET_REQUIRED',
        payload: { reason: 'INVALID_CURSOR' },
      })
      // Nothing of the new log came as if it followed the old one.
      const heard = each.frames
        .slice(0, -1)
        .map(frame => (JSON.parse(frame) as { stream_sequence: number }).stream_sequence)
      expect(Math.max(...heard)).toBeLessThanOrEqual(before)
    }
    // An old cursor gets the same reset; one of the new epoch resumes.
    const old = await restored.subscribe(LIVE, restored.seal({ sequence: before }))
    expect(await old.untilClosed()).toEqual({ code: 1000, reason: 'INVALID_CURSOR' })
    const fresh = await restored.subscribe(LIVE, restored.seal({ epoch, sequence: epoch * 2 ** 40 }))
    expect(await untilHeard(fresh, first)).toEqual([first])
    await fresh.end()
  } finally {
    await restored.close()
  }
})
