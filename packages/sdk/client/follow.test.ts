import { expect, test } from 'vitest'
import * as sample from '../testing/sample.ts'
import { replaying, type ScriptedSocket, ScriptedService } from '../testing/scriptedService.ts'
import type { Envelope } from '../wire/stream.ts'
import { createClient } from './client.ts'
import type { Follower, FollowEvent, FollowRequest } from './follow.ts'

const QUICK = { baseMs: 1, maxMs: 1, maxFailures: 20 }

function following(service: ScriptedService, request: Partial<FollowRequest> = {}): Follower {
  const client = createClient({ baseUrl: 'http://assay', fetch: service.fetch, WebSocket: service.WebSocket })
  return client.follow({ chain_id: sample.CHAIN, backoff: QUICK, ...request })
}

const summary = (event: FollowEvent): string =>
  event.kind === 'record'
    ? `record ${event.record.stream_sequence}`
    : `${event.status}${event.reason === null ? '' : ` (${event.reason})`}`

/** Events up to and with the one that is shown as `last`. */
async function until(follower: Follower, last: string): Promise<string[]> {
  const seen: string[] = []
  for await (const event of follower) {
    seen.push(summary(event))
    if (seen.at(-1) === last) break
  }
  return seen
}

const cents = (follower: Follower, n: number): string | null => {
  const price = follower.token(sample.tokenId(n), sample.NOW_MS)?.price
  return price?.state === 'PRICED' ? price.price_usd.numerator : null
}

const pairPage = (sequence: number, n: number, price: number, said: number) =>
  sample.page(sequence, [
    sample.pool(
      n,
      [sample.poolToken(n, sample.priced(price, said)), sample.poolToken(9, null)],
      sample.poolState(n),
    ),
  ])

const sessions = (service: ScriptedService): string[] =>
  service.asked
    .filter(each => each.includes('/v1/session'))
    .map(each => each.split('snapshot_sequence=')[1] as string)
const snapshots = (service: ScriptedService): number =>
  service.asked.filter(each => each.includes('/v1/pools') && !each.includes('cursor')).length

test('R-stream-5: all pages, a cursor at the least of their sequences, replay, live', async () => {
  const service = new ScriptedService()
  service.pages = [pairPage(30, 1, 100, 12), pairPage(20, 2, 200, 18), pairPage(40, 3, 300, 35)]
  service.headSequence = 50
  service.onSubscribe = (socket, after) => {
    replaying([sample.tokenUpsert(45, 2, 222), sample.tokenUpsert(60, 3, 333)])(socket, after)
    expect(socket.frame).toEqual({
      filter: { chain_ids: [1], pool_ids: [], token_ids: [] },
      resume_cursor: 'after-20',
    })
  }
  const follower = following(service)
  expect(await until(follower, 'record 60')).toEqual([
    'resetting',
    'replaying',
    'record 45',
    'live',
    'record 60',
  ])
  expect(service.asked).toEqual([
    'GET /v1/pools?chain_id=1&limit=1000',
    'GET /v1/pools?chain_id=1&limit=1000&cursor=1',
    'GET /v1/pools?chain_id=1&limit=1000&cursor=2',
    'POST /v1/session?chain_id=1&snapshot_sequence=20',
  ])
  expect([cents(follower, 1), cents(follower, 2), cents(follower, 3)]).toEqual(['100', '222', '333'])
  expect(follower.pool(sample.poolId(3))?.pool?.fee_ppm).toBe(3000)
  expect([...follower.pools()].length).toBe(3)
  expect([...follower.tokens(sample.NOW_MS)].length).toBe(4)
})

test('R-stream-5: overlap is ignored, and an entity takes only records above its own sequence', async () => {
  const service = new ScriptedService()
  service.pages = [pairPage(30, 1, 100, 12), pairPage(20, 2, 200, 18)]
  service.onSubscribe = socket => {
    for (const record of [
      sample.tokenUpsert(15, 1, 1),
      sample.tokenUpsert(20, 2, 2),
      sample.poolUpsert(25, 1, 77),
      sample.tokenUpsert(28, 2, 250),
      sample.tokenUpsert(28, 2, 999),
      sample.tokenUpsert(26, 2, 998),
      sample.feedHealth(31),
    ])
      socket.say(record)
  }
  const follower = following(service)
  const seen = await until(follower, 'record 31')
  expect(seen.filter(each => each.startsWith('record'))).toEqual(['record 28', 'record 31'])
  expect([cents(follower, 1), cents(follower, 2)]).toEqual(['100', '250'])
  expect(follower.pool(sample.poolId(1))?.state?.reserves?.reserve0).toBe('1')
  expect(follower.health?.status).toBe('HEALTHY')
})

test('R-stream-4: a reset discards the state and starts from a new snapshot', async () => {
  const service = new ScriptedService()
  service.pages = [pairPage(10, 1, 100, 5)]
  const atReset: (string | null)[] = []
  service.onSubscribe = (socket, after) => {
    if (after !== 10) return replaying([sample.tokenUpsert(95, 2, 22)])(socket, after)
    service.pages = [pairPage(90, 2, 200, 80)]
    socket.reset('REPLAY_UNAVAILABLE')
    return undefined
  }
  const follower = following(service)
  const seen: string[] = []
  for await (const event of follower) {
    seen.push(summary(event))
    if (event.kind === 'status' && event.reason !== null)
      atReset.push(cents(follower, 1), String(follower.sequence))
    if (seen.at(-1) === 'record 95') break
  }
  expect(seen).toEqual([
    'resetting',
    'replaying',
    'resetting (REPLAY_UNAVAILABLE)',
    'replaying',
    'live',
    'record 95',
  ])
  expect(atReset).toEqual([null, 'null'])
  expect(snapshots(service)).toBe(2)
  expect(sessions(service)).toEqual(['10', '90'])
  expect([cents(follower, 1), cents(follower, 2)]).toEqual([null, '22'])
})

test('R-stream-6: after 1013 the stream resumes after the last record applied, without a snapshot', async () => {
  const service = new ScriptedService()
  const log = [11, 14, 19, 25].map(n => sample.tokenUpsert(n, 1, n))
  let connections = 0
  service.onSubscribe = (socket, after) => {
    connections += 1
    if (connections > 1) return replaying(log)(socket, after)
    // The service wrote up to 19; what it wrote after 14 never arrived.
    replaying(log.slice(0, 2))(socket, after)
    return socket.drop(1013, 'last_sequence=19')
  }
  const follower = following(service)
  expect(await until(follower, 'record 25')).toEqual([
    'resetting',
    'replaying',
    'live',
    'record 11',
    'record 14',
    'reconnecting (1013 last_sequence=19)',
    'replaying',
    'live',
    'record 19',
    'record 25',
  ])
  expect(sessions(service)).toEqual(['0', '14'])
  expect(snapshots(service)).toBe(1)
})

test.for([
  [1012, ''],
  [1006, ''],
  [1000, ''],
  [1011, 'boom'],
] as const)('the stream resumes after a close with %i', async ([code, reason]) => {
  const service = new ScriptedService()
  const log = [sample.tokenUpsert(5, 1, 5), sample.tokenUpsert(6, 1, 6)]
  service.onSubscribe = (socket, after) => {
    if (after >= 5) return replaying(log)(socket, after)
    socket.say(log[0])
    return socket.drop(code, reason)
  }
  const follower = following(service)
  expect(await until(follower, 'record 6')).toContain(`reconnecting (${`${code} ${reason}`.trimEnd()})`)
  expect(sessions(service)).toEqual(['0', '5'])
})

test('resumed at every offset, any number of times, the state is that of the whole log', async () => {
  const log: Envelope[] = [
    sample.poolUpsert(2, 1, 10),
    sample.tokenUpsert(3, 1, 100),
    sample.tokenUpsert(7, 2, 200),
    sample.tokenRetract(8, 1),
    sample.poolOrphaned(9, 1),
    sample.poolUpsert(12, 2, 20),
    sample.tokenUpsert(13, 1, 130),
    sample.feedHealth(14),
  ]
  for (let each = 1; each <= log.length; each++) {
    const service = new ScriptedService()
    service.headSequence = 14
    service.onSubscribe = (socket, after) => {
      const rest = log.filter(record => record.stream_sequence > after)
      for (const record of rest.slice(0, each)) socket.say(record)
      if (rest.length > each) socket.drop(1006)
    }
    const follower = following(service)
    const seen = await until(follower, 'record 14')
    expect(seen.filter(event => event.startsWith('record')).length).toBe(log.length)
    expect([cents(follower, 1), cents(follower, 2), follower.sequence]).toEqual(['130', '200', 14])
    expect([...follower.pools()].map(({ pool_id }) => pool_id)).toEqual([sample.poolId(2)])
  }
})

test('a new log (after a restore) rejects the old sequence, and the follower takes a snapshot', async () => {
  const service = new ScriptedService()
  service.pages = [pairPage(10, 1, 100, 5)]
  let connections = 0
  service.onSubscribe = (socket, after) => {
    connections += 1
    if (connections > 1) return replaying([sample.tokenUpsert(2 ** 40 + 1, 1, 7)])(socket, after)
    service.pages = [pairPage(2 ** 40, 1, 6, 2 ** 40)]
    service.failures.push({ status: 400, body: { error: 'snapshot_sequence is of another epoch' } })
    return socket.drop(1006)
  }
  const follower = following(service)
  expect(await until(follower, `record ${2 ** 40 + 1}`)).toContain('resetting (SEQUENCE_REFUSED)')
  expect(sessions(service)).toEqual(['10', '10', `${2 ** 40}`])
  expect(cents(follower, 1)).toBe('7')
})

test('a new log between a snapshot and its session is followed from another snapshot', async () => {
  const service = new ScriptedService()
  service.pages = [pairPage(2 ** 40, 1, 6, 2 ** 40)]
  service.failures.push(
    { status: 200, body: sample.page(3, []) },
    { status: 400, body: { error: 'snapshot_sequence is of another epoch' } },
  )
  service.onSubscribe = replaying([sample.tokenUpsert(2 ** 40 + 1, 1, 7)])
  const follower = following(service)
  expect(await until(follower, `record ${2 ** 40 + 1}`)).toContain('resetting (SEQUENCE_REFUSED)')
  expect(sessions(service)).toEqual(['3', `${2 ** 40}`])
})

test('a session refused after a second snapshot as well is thrown: a third would not help', async () => {
  const service = new ScriptedService()
  const refusal = { status: 400, body: { error: 'this consumer has 50 sessions already' } }
  service.failures.push({ status: 200, body: sample.page(3, []) }, refusal)
  service.failures.push({ status: 200, body: sample.page(3, []) }, refusal)
  await expect(until(following(service), 'never')).rejects.toThrow('50 sessions')
  expect(snapshots(service)).toBe(2)
})

test('a page that is rate-limited or fails is requested again automatically', async () => {
  const service = new ScriptedService()
  service.pages = [pairPage(10, 1, 100, 5), pairPage(10, 2, 200, 5)]
  service.failures.push({ status: 429, retryAfterS: 0 }, { status: 503 })
  service.onSubscribe = replaying([sample.feedHealth(11)])
  await until(following(service), 'record 11')
  expect(service.asked.map(each => each.replace('chain_id=1&limit=1000', ''))).toEqual([
    'GET /v1/pools?',
    'GET /v1/pools?',
    'GET /v1/pools?',
    'GET /v1/pools?&cursor=1',
    'POST /v1/session?chain_id=1&snapshot_sequence=10',
  ])
})

test.for([
  [{ status: 401 }, 'UNAUTHENTICATED'],
  [{ status: 403 }, 'FORBIDDEN'],
  [{ status: 404, body: { error: 'chain 1 is not served' } }, 'NOT_FOUND'],
] as const)('$0.status is thrown: no retry helps', async ([failure, code]) => {
  const service = new ScriptedService()
  service.failures.push(failure)
  const follower = following(service)
  await expect(until(follower, 'never')).rejects.toMatchObject({ code })
  expect(follower.status).toBe('closed')
})

test('a refused subscription is thrown at once', async () => {
  const service = new ScriptedService()
  service.onSubscribe = socket => socket.drop(1008, 'credential revoked')
  await expect(until(following(service), 'never')).rejects.toMatchObject({
    code: 'STREAM_CLOSED',
    message: 'the stream ended: 1008 credential revoked',
  })
  expect(sessions(service).length).toBe(1)
})

test.for([
  [{ schema_version: 2 }, 'SCHEMA_TOO_NEW'],
  [{ resume_cursor: null }, 'UNEXPECTED_ANSWER'],
] as const)('a session with %o cannot be followed', async ([change, code]) => {
  const service = new ScriptedService()
  const session = { ...sample.session('after-0', 0), ...change }
  service.failures.push({ status: 200, body: sample.page(0, []) }, { status: 200, body: session })
  await expect(until(following(service), 'never')).rejects.toMatchObject({ code })
})

test('the replay ends with the record that was the head when the cursor was created', async () => {
  const service = new ScriptedService()
  service.headSequence = 20
  service.onSubscribe = replaying([sample.tokenUpsert(19, 1, 1), sample.tokenUpsert(20, 1, 2)])
  const seen = await until(following(service), 'record 20')
  expect(seen).toEqual(['resetting', 'replaying', 'record 19', 'live', 'record 20'])
})

test('connections that never deliver a record are eventually given up; one record resets the count', async () => {
  const service = new ScriptedService()
  let connections = 0
  service.onSubscribe = socket => {
    connections += 1
    if (connections === 4) socket.say(sample.feedHealth(1))
    socket.drop(1006)
  }
  const follower = following(service, { backoff: { ...QUICK, maxFailures: 5 } })
  await expect(until(follower, 'never')).rejects.toMatchObject({ code: 'STREAM_CLOSED' })
  // Three, then the one that spoke, which counts as the first failure after its record, then four more.
  expect(connections).toBe(8)
})

test('silence counts as a lost connection: the stream resumes', async () => {
  const service = new ScriptedService()
  const sockets: ScriptedSocket[] = []
  service.onSubscribe = (socket, after) => {
    sockets.push(socket)
    if (sockets.length > 1) replaying([sample.feedHealth(3)])(socket, after)
  }
  const follower = following(service, { silenceMs: 5 })
  expect(await until(follower, 'record 3')).toContain('reconnecting (SILENCE)')
  expect(sockets[0]?.isClosed).toBe(true)
})

test('R-present-3: a price past its expiry is not shown, whatever the stream says', async () => {
  const service = new ScriptedService()
  const price = sample.priced(100, 5, sample.NOW_MS + 10)
  service.pages = [
    sample.page(9, [sample.pool(1, [sample.poolToken(1, price), sample.poolToken(2, null)], null)]),
  ]
  service.onSubscribe = replaying([sample.feedHealth(10)])
  const follower = following(service)
  await until(follower, 'record 10')
  const id = sample.tokenId(1)
  expect(follower.token(id, sample.NOW_MS + 9)?.price?.state).toBe('PRICED')
  expect(follower.token(id, sample.NOW_MS + 10)?.price).toMatchObject({
    state: 'UNPRICED',
    reason: 'ROUTE_EXPIRED',
  })
  const listed = [...follower.tokens(sample.NOW_MS + 10)].find(({ token_id }) => token_id === id)
  expect(listed?.price?.state).toBe('UNPRICED')
  expect(follower.token(sample.tokenId(77))).toBe(undefined)
})

/** A service with one token of 100 cents, and a clock that stays where it is set. */
function watched(request: Partial<FollowRequest> = {}) {
  const service = new ScriptedService()
  service.pages = [pairPage(9, 1, 100, 5)]
  const clock = { nowMs: sample.NOW_MS }
  const follower = following(service, { now: () => clock.nowMs, ...request })
  const shown = () => follower.token(sample.tokenId(1))?.price
  return { service, clock, follower, shown }
}

const GONE = { state: 'UNPRICED', reason: 'FEED', presented: true } as const

test('R-present-1: while the feed is down no price is shown, and the records stay as received', async () => {
  const { service, follower, shown } = watched()
  service.onSubscribe = replaying([
    sample.feedHealth(10),
    sample.feedHealth(11, 'GAP'),
    sample.feedHealth(12, 'DEGRADED'),
    sample.feedHealth(13, 'UNAVAILABLE'),
    sample.feedHealth(14),
  ])
  const seen: (string | undefined)[] = []
  for await (const event of follower) {
    if (event.kind !== 'record') continue
    seen.push(shown()?.state)
    const [held] = [...follower.storedTokens()]
    expect(held?.price?.state).toBe('PRICED')
    if (event.record.stream_sequence === 11)
      expect(shown()).toMatchObject({ ...GONE, as_of: { stream_sequence: 5 } })
    if (event.record.stream_sequence === 14) break
  }
  expect(seen).toEqual(['PRICED', 'UNPRICED', 'PRICED', 'UNPRICED', 'PRICED'])
})

test('R-present-2: thirty seconds without health count as silence, and the next health ends it', async () => {
  const { service, clock, follower, shown } = watched()
  let say: (sequence: number) => void = () => undefined
  service.onSubscribe = socket => {
    say = sequence => socket.say(sample.feedHealth(sequence))
    say(10)
  }
  const heard = async (sequence: number) => {
    for (;;) {
      const { value, done } = await events.next()
      if (done === true) throw new Error('it ended')
      if (value.kind === 'record' && value.record.stream_sequence === sequence) return
    }
  }
  const events = follower[Symbol.asyncIterator]()
  await heard(10)
  clock.nowMs += 30_000
  expect([shown()?.state, follower.feedGone()]).toEqual(['PRICED', null])
  clock.nowMs += 1
  expect([shown(), follower.feedGone()]).toEqual([expect.objectContaining(GONE), 'UNAVAILABLE'])
  expect([...follower.tokens()].map(({ price }) => price?.state ?? null)).toEqual(['UNPRICED', null])
  say(11)
  await heard(11)
  expect([shown()?.state, follower.feedGone()]).toEqual(['PRICED', null])
  follower.close()
})

test.each(['snapshot', 'session'] as const)(
  'R-present-2: a chain that the %s reports silent shows no price, whatever health is replayed, until live health arrives',
  async beside => {
    const { service, follower, shown } = watched()
    const silent = { chain_id: sample.CHAIN, status: 'UNAVAILABLE', reasons: ['WORKER_SILENT'] } as const
    const [page] = service.pages
    if (beside === 'snapshot') service.pages = [{ ...(page as (typeof service.pages)[0]), feeds: [silent] }]
    service.feed = silent
    service.headSequence = 12
    service.onSubscribe = replaying([sample.feedHealth(11), sample.feedHealth(12), sample.feedHealth(13)])
    const seen: unknown[] = []
    for await (const event of follower) {
      if (event.kind === 'status' && event.status === 'resetting') continue
      seen.push([summary(event), shown()?.state])
      if (event.kind === 'record' && event.record.stream_sequence === 13) break
    }
    expect(seen).toEqual([
      ['replaying', 'UNPRICED'],
      ['record 11', 'UNPRICED'],
      ['live', 'UNPRICED'],
      ['record 12', 'UNPRICED'],
      ['record 13', 'PRICED'],
    ])
  },
)

test('after a connection was away longer than a silence, prices return with the next health report', async () => {
  const { service, clock, follower, shown } = watched()
  service.feed = { chain_id: sample.CHAIN, status: 'HEALTHY', reasons: [] }
  let connections = 0
  service.onSubscribe = (socket, after) => {
    connections += 1
    if (connections === 1) return socket.drop(1006)
    service.headSequence = 10
    replaying([sample.feedHealth(10)])(socket, after)
  }
  const seen: unknown[] = []
  for await (const event of follower) {
    if (event.kind === 'status' && event.status === 'reconnecting') clock.nowMs += 3_600_000
    seen.push([summary(event), shown()?.state])
    if (event.kind === 'record') break
  }
  expect(seen).toEqual([
    ['resetting', undefined],
    ['replaying', 'PRICED'],
    ['reconnecting (1006)', 'UNPRICED'],
    ['replaying', 'PRICED'],
    ['live', 'PRICED'],
    ['record 10', 'PRICED'],
  ])
})

test('close, the signal and leaving the loop end it quietly, and its socket too', async () => {
  for (const how of ['close', 'signal', 'leave']) {
    const service = new ScriptedService()
    const sockets: ScriptedSocket[] = []
    service.onSubscribe = (socket, after) => {
      sockets.push(socket)
      replaying([sample.feedHealth(1), sample.feedHealth(2)])(socket, after)
    }
    const control = new AbortController()
    const follower = following(service, { signal: control.signal })
    for await (const event of follower) {
      if (event.kind !== 'record') continue
      if (how === 'leave') break
      if (how === 'close') follower.close()
      else control.abort()
    }
    expect([how, follower.status, sockets[0]?.isClosed]).toEqual([how, 'closed', true])
  }
})

test('it can be ended while it waits to retry', async () => {
  const service = new ScriptedService()
  service.onSubscribe = socket => socket.drop(1006)
  const follower = following(service, { backoff: { baseMs: 1e9, maxMs: 1e9, maxFailures: 9 } })
  const seen: string[] = []
  for await (const event of follower) {
    seen.push(summary(event))
    if (event.kind === 'status' && event.status === 'reconnecting') setImmediate(() => follower.close())
  }
  expect(seen).toEqual(['resetting', 'replaying', 'reconnecting (1006)'])
})

test('run calls back with every token and pool of the snapshot first, again after a reset, then with changes', async () => {
  const service = new ScriptedService()
  service.pages = [pairPage(10, 1, 100, 5)]
  service.onSubscribe = (socket, after) => {
    if (after !== 10) return replaying([sample.tokenUpsert(95, 2, 22)])(socket, after)
    service.pages = [pairPage(90, 2, 200, 80)]
    return socket.reset('REPLAY_UNAVAILABLE')
  }
  const follower = following(service)
  const seen: string[] = []
  await follower.run({
    onStatus: status => seen.push(status),
    onToken: ({ token_id, price }) => {
      seen.push(`token ${BigInt(token_id)} ${price?.state === 'PRICED' ? price.price_usd.numerator : '–'}`)
      if (seen.at(-1)?.endsWith(' 22') === true) follower.close()
    },
    onPool: (id, pool) => seen.push(`pool ${BigInt(id)} ${pool?.pool?.fee_ppm}`),
  })
  const token = (n: number, price: string) => `token ${BigInt(sample.tokenId(n))} ${price}`
  const pool = (n: number) => `pool ${BigInt(sample.poolId(n))} 3000`
  expect(seen.filter(each => !each.startsWith(token(9, '')))).toEqual([
    'resetting',
    'replaying',
    token(1, '100'),
    pool(1),
    'resetting',
    'replaying',
    token(2, '200'),
    pool(2),
    'live',
    token(2, '22'),
    'closed',
  ])
})

test('a runtime without WebSocket is named, with what to do', async () => {
  const service = new ScriptedService()
  service.pages = [pairPage(10, 1, 100, 5)]
  const own = globalThis.WebSocket
  // As in Node 20.
  Reflect.deleteProperty(globalThis, 'WebSocket')
  try {
    const client = createClient({ baseUrl: 'http://assay', fetch: service.fetch })
    const follower = client.follow({ chain_id: sample.CHAIN, backoff: QUICK })
    await expect(until(follower, 'never')).rejects.toMatchObject({
      code: 'NO_WEBSOCKET',
      message: expect.stringContaining('package `ws`') as string,
    })
  } finally {
    globalThis.WebSocket = own
  }
})
