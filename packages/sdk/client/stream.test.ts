import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { conformance } from '../testing/conformance.ts'
import { type LocalService, localService } from '../testing/localService.ts'
import * as sample from '../testing/sample.ts'
import { SubscribeFrame } from '../wire/stream.ts'
import { type Client, createClient } from './client.ts'
import { type Socket, Stream, type StreamRequest } from './stream.ts'

const CHAIN = { filter: { chain_ids: [1] } } as const

let service: LocalService
let client: Client
beforeEach(async () => {
  service = await localService(() => ({ status: 404 }))
  client = createClient({ baseUrl: service.url, apiKey: 'assay_k' })
})
afterEach(() => service.close())

async function connected(request: StreamRequest = CHAIN) {
  const stream = client.stream(request)
  const connection = await service.connection()
  const say = (message: unknown) =>
    connection.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  return { stream, connection, say }
}

async function all(stream: Stream): Promise<number[]> {
  const sequences: number[] = []
  for await (const record of stream) sequences.push(record.stream_sequence)
  return sequences
}

test('R-stream-1, R-stream-2: one frame is sent, its lists ascending and unique, the key in a header', async () => {
  const { connection, stream } = await connected({
    filter: {
      chain_ids: [137, 56, 1, 56],
      pool_ids: [sample.poolId(0xb), sample.poolId(0xa).toUpperCase().replace('0X', '0x')],
      types: ['SWAP_OBSERVED', 'FEED_HEALTH'],
    },
    resumeCursor: 'opaque',
  })
  expect(connection.url).toBe('/v1/stream')
  expect(connection.headers.authorization).toBe('Bearer assay_k')
  expect(connection.frame).toEqual({
    filter: {
      chain_ids: [1, 56, 137],
      pool_ids: [sample.poolId(0xa), sample.poolId(0xb)],
      token_ids: [],
      types: ['FEED_HEALTH', 'SWAP_OBSERVED'],
    },
    resume_cursor: 'opaque',
  })
  expect(conformance(SubscribeFrame)(connection.frame)).toEqual([])
  stream.close()
})

test('without a cursor delivery starts live, without a key no header is sent', async () => {
  client = createClient({ baseUrl: service.url })
  const { connection, stream } = await connected()
  expect(connection.frame).toMatchObject({ resume_cursor: null })
  expect(connection.headers).not.toHaveProperty('authorization')
  stream.close()
})

test('records arrive in order, and a normal close ends them', async () => {
  const { stream, connection, say } = await connected()
  for (const n of [1, 5, 9]) say(sample.tokenUpsert(n, 1, n))
  connection.socket.close(1000)
  expect(await all(stream)).toEqual([1, 5, 9])
  expect(await stream.outcome).toEqual({
    kind: 'CLOSED',
    code: 1000,
    reason: '',
    lastSequence: null,
    retryAfterMs: null,
    reconnect: true,
  })
})

test('R-stream-6: a slow consumer learns the last sequence it was sent', async () => {
  const { stream, connection } = await connected()
  connection.socket.close(1013, 'last_sequence=1099511627801')
  expect(await all(stream)).toEqual([])
  expect(await stream.outcome).toMatchObject({ code: 1013, lastSequence: 1_099_511_627_801, reconnect: true })
})

test('a refused subscription is not retried, and gives the reason', async () => {
  const { stream, connection } = await connected()
  connection.socket.close(1008, 'filter.pool_ids is not sorted')
  expect(await stream.outcome).toMatchObject({
    code: 1008,
    reason: 'filter.pool_ids is not sorted',
    reconnect: false,
  })
})

test('R-stream-4: RESET_REQUIRED is an outcome, whatever the following close says', async () => {
  const { stream, connection, say } = await connected()
  say({ type: 'RESET_REQUIRED', payload: { reason: 'EXPIRED_CURSOR', server_time_unix_ms: 1234 } })
  connection.socket.close(1000)
  expect(await all(stream)).toEqual([])
  expect(await stream.outcome).toEqual({
    kind: 'RESET_REQUIRED',
    reason: 'EXPIRED_CURSOR',
    serverTimeMs: 1234,
  })
})

test('a connection that breaks or is refused is an abnormal close', async () => {
  const { stream, connection } = await connected()
  connection.socket.terminate()
  expect(await stream.outcome).toMatchObject({ kind: 'CLOSED', code: 1006, reconnect: true })

  const refused = createClient({ baseUrl: `${service.url}/refused` }).stream(CHAIN)
  expect(await all(refused)).toEqual([])
  expect(await refused.outcome).toMatchObject({ kind: 'CLOSED', code: 1006, reconnect: true })
})

test('the WebSocket of the ws package works as well', async () => {
  client = createClient({ baseUrl: service.url, apiKey: 'assay_k', WebSocket })
  const { stream, connection, say } = await connected()
  expect(connection.headers.authorization).toBe('Bearer assay_k')
  say(sample.feedHealth(4))
  connection.socket.close(1012)
  expect(await all(stream)).toEqual([4])
  expect(await stream.outcome).toMatchObject({ kind: 'CLOSED', code: 1012 })
  const refused = createClient({ baseUrl: `${service.url}/refused`, WebSocket }).stream(CHAIN)
  expect(await refused.outcome).toMatchObject({ kind: 'CLOSED', code: 1006 })
})

test('close ends the iteration, drops unread records, and closes normally', async () => {
  const { stream, connection, say } = await connected()
  say(sample.tokenUpsert(1, 1, 1))
  say(sample.tokenUpsert(2, 1, 1))
  const reader = stream[Symbol.asyncIterator]()
  expect((await reader.next()).value?.stream_sequence).toBe(1)
  stream.close()
  expect(await reader.next()).toEqual({ done: true, value: undefined })
  expect(await stream.outcome).toEqual({ kind: 'ENDED' })
  expect((await connection.closed).code).toBe(1000)
})

test('leaving the loop closes the connection', async () => {
  const { stream, connection, say } = await connected()
  say(sample.tokenUpsert(1, 1, 1))
  for await (const record of stream) if (record.stream_sequence === 1) break
  expect((await connection.closed).code).toBe(1000)
  expect(await stream.outcome).toEqual({ kind: 'ENDED' })
})

test('the signal closes it, also before it is open', async () => {
  const control = new AbortController()
  const { stream, connection } = await connected({ ...CHAIN, signal: control.signal })
  control.abort()
  expect(await all(stream)).toEqual([])
  expect((await connection.closed).code).toBe(1000)
  const late = client.stream({ ...CHAIN, signal: control.signal })
  expect(await all(late)).toEqual([])
  expect(await late.outcome).toEqual({ kind: 'ENDED' })
})

test.for([
  'not json',
  'null',
  '[]',
  '{"type":"PRICE_UPSERT","payload":{}}',
  '{"type":"PRICE_UPSERT","stream_sequence":"7","payload":{}}',
  '{"type":"RESET_REQUIRED"}',
])('%s is no message, and the connection is given up', async text => {
  const { stream, say, connection } = await connected()
  say(text)
  expect(await stream.outcome).toEqual({ kind: 'GIVEN_UP', why: 'MALFORMED' })
  expect((await connection.closed).code).toBe(1000)
})

test('binary data is no message', async () => {
  const { stream, connection } = await connected()
  connection.socket.send(Buffer.from('{}'))
  expect(await stream.outcome).toEqual({ kind: 'GIVEN_UP', why: 'MALFORMED' })
})

test('an unknown future type is delivered', async () => {
  const { stream, say, connection } = await connected()
  say({ ...sample.feedHealth(3), type: 'NEW_THING' })
  connection.socket.close(1012)
  expect(await all(stream)).toEqual([3])
})

test('a reader too far behind is disconnected, with the queue still readable', async () => {
  const { stream, say } = await connected()
  const text = JSON.stringify(sample.feedHealth(1))
  for (let n = 0; n < 10_001; n++) say(text)
  expect(await stream.outcome).toEqual({ kind: 'GIVEN_UP', why: 'OVERFLOW' })
  expect((await all(stream)).length).toBe(10_000)
})

describe('silence', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** A stream over a socket whose events a test fires. */
  function silent() {
    const listeners = new Map<string, (event: object) => void>()
    const closes: (number | undefined)[] = []
    const socket: Socket = {
      send: () => {},
      close: code => void closes.push(code),
      addEventListener: (type, listener) => void listeners.set(type, listener),
    }
    const stream = new Stream(socket, { ...CHAIN, silenceMs: 60_000 })
    return { stream, closes, fire: (type: string, event: object = {}) => listeners.get(type)?.(event) }
  }

  test('a silent connection is given up; an active one is not', async () => {
    const { stream, closes, fire } = silent()
    fire('open')
    vi.advanceTimersByTime(59_999)
    fire('message', { data: JSON.stringify(sample.feedHealth(1)) })
    vi.advanceTimersByTime(59_999)
    expect(closes).toEqual([])
    vi.advanceTimersByTime(1)
    expect(closes).toEqual([1000])
    expect(await stream.outcome).toEqual({ kind: 'GIVEN_UP', why: 'SILENCE' })
  })

  test('a closed connection leaves no timer behind', () => {
    silent().fire('close', { code: 1012 })
    silent().stream.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})
