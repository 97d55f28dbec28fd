/**
 * The stream, rule by rule: R-stream and R-cursor over a running service, with clients we did not write,
 * Node's own WebSocket and its fetch. A test is named after its rule.
 */
import { SCHEMA_VERSION } from '@assay/sdk/wire'
import * as wire from '@assay/sdk/wire'
import { beforeAll, describe, expect, it } from 'vitest'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { CURSOR_LIFETIME_MS, sealCursor } from '../../stream/cursor.ts'
import { ask } from '../testing/answer.ts'
import { CHAIN_ID } from '../testing/plan.ts'
import { idOf } from '../testing/record.ts'
import { chain, serveChain, service } from '../testing/servedChain.ts'
import { until } from '../testing/until.ts'

const FILTER = { chain_ids: [CHAIN_ID], pool_ids: [], token_ids: [] }

type Message = {
  readonly stream_sequence: number
  readonly type: string
  readonly routing: {
    readonly chain_id: number
    readonly pool_ids: readonly string[]
    readonly token_ids: readonly string[]
  }
  readonly payload: Readonly<Record<string, unknown>>
}

/** Node's own WebSocket: every message and how it ended. */
class Foreign {
  readonly messages: Message[] = []
  closed: { readonly code: number; readonly reason: string } | null = null
  readonly #socket: WebSocket

  constructor(headers: Readonly<Record<string, string>>, frames: readonly (string | object)[] = []) {
    this.#socket = new WebSocket(`${service.url.replace(/^http/, 'ws')}/v1/stream`, { headers })
    this.#socket.addEventListener('open', () => {
      for (const frame of frames) this.send(frame)
    })
    this.#socket.addEventListener('message', ({ data }) =>
      this.messages.push(JSON.parse(String(data)) as Message),
    )
    this.#socket.addEventListener('close', ({ code, reason }) => {
      this.closed = { code, reason }
    })
  }

  get sequences(): number[] {
    return this.messages.map(each => each.stream_sequence)
  }

  send(frame: string | object): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  untilClosed() {
    return until('closed', () => this.closed)
  }

  async untilSequence(sequence: number): Promise<void> {
    await until(`sequence ${sequence}`, () => {
      if (this.closed !== null) throw new Error(JSON.stringify(this.closed))
      return (this.sequences.at(-1) ?? -1) >= sequence
    })
  }

  async close(): Promise<void> {
    this.#socket.close()
    await this.untilClosed()
  }
}

let secret: Uint8Array
serveChain()
beforeAll(async () => {
  secret = await service.store.readSecret('cursor')
  await move()
})

const bearer = async (scopes: readonly ('read' | 'stream')[] = ['stream']) => ({
  authorization: `Bearer ${await service.key(scopes)}`,
})
const subscribe = async (filter: object = {}, cursor: string | null = null) =>
  new Foreign(await bearer(), [{ filter: { ...FILTER, ...filter }, resume_cursor: cursor }])
const seal = (parts: object = {}) =>
  sealCursor(secret, {
    epoch: 0,
    chainId: CHAIN_ID,
    sequence: 0,
    schemaVersion: SCHEMA_VERSION,
    issuedAtMs: Date.now(),
    ...parts,
  })

/** A trade, and the last record it caused. */
async function move(usd = 800): Promise<number> {
  await service.untilTip(await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDC', 'LARK'), 'LARK', usd)))
  return service.head()
}

/** Certainly live: it has received a record of a trade after it subscribed. */
async function live(filter: object = {}): Promise<Foreign> {
  const foreign = await subscribe(filter)
  await until('live', async () => {
    await move()
    return foreign.messages.length > 0 || foreign.closed !== null
  })
  return foreign
}

describe('R-stream-1, R-stream-2: stream connection', () => {
  it('1 the handshake is authenticated by a bearer header or a same-origin session cookie', async () => {
    const nobody = new Foreign({})
    expect((await nobody.untilClosed()).code).toBe(1006)
    const answer = await fetch(`${service.url}/v1/session`, { method: 'POST', headers: await bearer() })
    const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const origin = service.url
    const frame = { filter: FILTER, resume_cursor: seal() }
    const session = new Foreign({ cookie, origin }, [frame])
    await session.untilSequence(await service.head())
    await session.close()
    expect(
      (await new Foreign({ cookie, origin: 'http://elsewhere.example' }, [frame]).untilClosed()).code,
    ).toBe(1006)
    expect((await new Foreign(await bearer(['read']), [frame]).untilClosed()).code).toBe(1006)
  })

  it('2 exactly one subscribe frame; another is refused', async () => {
    const foreign = await subscribe()
    await until('open', () => foreign.closed === null)
    const twice = new Foreign(await bearer(), [
      { filter: FILTER, resume_cursor: null },
      { filter: FILTER, resume_cursor: null },
    ])
    expect((await twice.untilClosed()).code).toBe(1008)
    await foreign.close()
  })

  it.each([
    ['chain_ids', { chain_ids: [CHAIN_ID, CHAIN_ID] }],
    ['pool_ids', { pool_ids: [`0x${'b'.repeat(64)}`, `0x${'a'.repeat(64)}`] }],
    ['token_ids', { token_ids: [`0x${'a'.repeat(64)}`, `0x${'a'.repeat(64)}`] }],
  ])('filter.%s is strictly sorted and unique, or it is 1008 with a line', async (name, filter) => {
    const { code, reason } = await (await subscribe(filter)).untilClosed()
    expect(code).toBe(1008)
    expect(reason).toContain(`filter.${name}`)
  })

  it('empty pool_ids and token_ids select every routed message; a null cursor starts live', async () => {
    const before = await service.head()
    const foreign = await live()
    const last = await move()
    await foreign.untilSequence(last)
    expect(foreign.sequences[0]).toBeGreaterThan(before)
    const log = await service.records((foreign.sequences[0] ?? 0) - 1)
    expect(foreign.messages).toEqual(log.slice(0, foreign.messages.length))
    expect(new Set(foreign.messages.map(({ type }) => type)).size).toBeGreaterThan(1)
    await foreign.close()
  })
})

describe('R-stream-3: envelope', () => {
  it('has stream_sequence, routing, type and payload, and fits its schema', async () => {
    const foreign = await subscribe({}, seal())
    await foreign.untilSequence(await move())
    const ajv = new Ajv2020({ strict: false })
    const isMessage = ajv.compile(wire.StreamMessage)
    for (const message of foreign.messages) {
      expect(Object.keys(message)).toEqual(['stream_sequence', 'routing', 'type', 'payload'])
      expect(Object.keys(message.routing)).toEqual(['chain_id', 'pool_ids', 'token_ids'])
      expect(isMessage(message), JSON.stringify(isMessage.errors)).toBe(true)
    }
    const { sequences } = foreign
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b))
    expect(new Set(sequences).size).toBe(sequences.length)
    await foreign.close()
  })

  it('ordering: causal pool records come before one coalesced token record', async () => {
    const before = await service.head()
    const foreign = await subscribe({}, seal({ sequence: before }))
    await foreign.untilSequence(await move())
    const scopes = foreign.messages
      .filter(
        ({ type, routing }) =>
          type !== 'FEED_HEALTH' && routing.token_ids.includes(idOf(chain.token('LARK'))),
      )
      .map(({ type, payload }) => (type === 'SWAP_OBSERVED' ? 'swap' : String(payload['scope'])))
    expect(scopes).toEqual(['swap', 'pool', 'token'])
    await foreign.close()
  })
})

describe('R-stream-4: RESET_REQUIRED', () => {
  const LOG_HEAD = 2 ** 39
  it.each([
    ['INVALID_CURSOR', () => 'no-cursor', {}],
    ['INVALID_CURSOR', () => seal({ sequence: LOG_HEAD }), {}],
    ['INVALID_CURSOR', () => seal({ epoch: 7, sequence: 7 * 2 ** 40 }), {}],
    ['SCHEMA_MISMATCH', () => seal({ schemaVersion: 99 }), {}],
    ['EXPIRED_CURSOR', () => seal({ issuedAtMs: Date.now() - CURSOR_LIFETIME_MS - 1000 }), {}],
    ['FILTER_MISMATCH', () => seal(), { token_ids: [`0x${'a'.repeat(64)}`] }],
  ])('%s: reason and server time, no sequence, then close 1000', async (reason, cursor, filter) => {
    const foreign = await subscribe(filter, cursor())
    expect(await foreign.untilClosed()).toEqual({ code: 1000, reason })
    expect(foreign.messages).toEqual([
      { type: 'RESET_REQUIRED', payload: { reason, server_time_unix_ms: expect.any(Number) } },
    ])
  })

  it('W5 a cursor that is malformed, negative, 2^64, a float or signed by another key is INVALID_CURSOR', async () => {
    const other = sealCursor(new Uint8Array(32), {
      epoch: 0,
      chainId: CHAIN_ID,
      sequence: 1,
      schemaVersion: SCHEMA_VERSION,
      issuedAtMs: Date.now(),
    })
    for (const cursor of ['-1', `${2n ** 64n}`, '1.5', '{}', 'x'.repeat(4000), other, `${seal()}A`]) {
      const foreign = await subscribe({}, cursor)
      expect(await foreign.untilClosed()).toEqual({ code: 1000, reason: 'INVALID_CURSOR' })
    }
  })
})

describe('R-stream-5: resume and replay', () => {
  it('1–4 snapshot, minimum sequence, session, cursor, replay, live: nothing missing, no duplicates', async () => {
    const key = await service.key(['stream'])
    const sequences: number[] = []
    let next = ''
    do {
      const { body } = await ask(`${service.url}/v1/pools?chain_id=${CHAIN_ID}&limit=1${next}`, { key })
      const page = body as { snapshot_sequence: number; next_cursor: string | null }
      sequences.push(page.snapshot_sequence)
      next = page.next_cursor === null ? '' : `&cursor=${encodeURIComponent(page.next_cursor)}`
      if (sequences.length === 2) await move()
    } while (next !== '')
    const from = Math.min(...sequences)
    expect(from).toBeLessThan(Math.max(...sequences))
    const { body } = await ask(`${service.url}/v1/session?chain_id=${CHAIN_ID}&snapshot_sequence=${from}`, {
      key,
      method: 'POST',
    })
    const foreign = await subscribe({}, (body as { resume_cursor: string }).resume_cursor)
    await foreign.untilSequence(await move())
    expect(foreign.messages).toEqual((await service.records(from)).slice(0, foreign.messages.length))
    await foreign.close()
  })

  it('5 a cursor with a narrower filter is FILTER_MISMATCH; types do not narrow', async () => {
    const narrow = await subscribe({ pool_ids: [idOf(chain.pool('uniswap-v2', 'USDC', 'LARK'))] }, seal())
    expect((await narrow.untilClosed()).reason).toBe('FILTER_MISMATCH')
    const typed = await subscribe({ types: ['SWAP_OBSERVED'] }, seal())
    await until('heard', () => typed.messages.length > 0)
    expect(new Set(typed.messages.map(({ type }) => type))).toEqual(new Set(['SWAP_OBSERVED']))
    await typed.close()
  })
})

describe('R-stream-1, R-stream-2, R-stream-7: frames, filters, connections', () => {
  it.each([
    ['malformed', '{'],
    ['unknown field', { filter: FILTER, resume_cursor: null, more: 1 }],
    ['empty chain_ids', { filter: { ...FILTER, chain_ids: [] }, resume_cursor: null }],
    ['unserved chain_ids', { filter: { ...FILTER, chain_ids: [4] }, resume_cursor: null }],
    ['ids in upper case', { filter: { ...FILTER, pool_ids: [`0x${'A'.repeat(64)}`] }, resume_cursor: null }],
  ])('a subscribe frame that is %s is 1008 with one line', async (_, frame) => {
    const { code, reason } = await new Foreign(await bearer(), [frame]).untilClosed()
    expect(code).toBe(1008)
    expect(reason).toMatch(/^[^\n]{5,123}$/)
  })

  it('only records with both routing lists empty bypass filters', async () => {
    const foreign = await live({ token_ids: [idOf(chain.token('LARK'))] })
    for (const { type, routing } of foreign.messages)
      expect(type === 'FEED_HEALTH' || routing.token_ids.includes(idOf(chain.token('LARK')))).toBe(true)
    await foreign.close()
  })

  it('twenty connections per consumer, over both transports; beyond 429 before the upgrade', async () => {
    const headers = await bearer()
    const frame = { filter: FILTER, resume_cursor: null }
    const open = Array.from({ length: 19 }, () => new Foreign(headers, [frame]))
    const events = await fetch(`${service.url}/v1/stream/sse?chain_ids=${CHAIN_ID}`, { headers })
    expect(events.status).toBe(200)
    await until('all counted', async () => {
      const beyond = await fetch(`${service.url}/v1/stream/sse?chain_ids=${CHAIN_ID}`, { headers })
      await beyond.body?.cancel()
      return beyond.status === 429
    })
    expect((await new Foreign(headers, [frame]).untilClosed()).code).toBe(1006)
    await events.body?.cancel()
    await Promise.all(open.map(each => each.close()))
  })

  it('W16 a key revoked while connected is 1008, and its events end', async () => {
    const { key, keyId } = await service.service.access.issue('to revoke', 'revoked', ['stream'], null)
    const headers = { authorization: `Bearer ${key}` }
    const foreign = new Foreign(headers, [{ filter: FILTER, resume_cursor: seal() }])
    await until('heard', () => foreign.messages.length > 0)
    const events = await Events.open(`chain_ids=${CHAIN_ID}`, headers)
    await service.store.revokeKey(keyId, Date.now())
    expect((await foreign.untilClosed()).code).toBe(1008)
    await until('events over', () => events.isOver)
    expect(events.text).toContain(': 1008 the credential was revoked or has expired')
  })
})

/** A reader of server-sent events by hand (WHATWG §9.2). */
class Events {
  readonly heard: { readonly id: string; readonly event: string; readonly data: string }[] = []
  text = ''
  isOver = false
  readonly #response: Response

  private constructor(response: Response) {
    this.#response = response
  }

  static async open(query: string, headers: Readonly<Record<string, string>>): Promise<Events> {
    const events = new Events(await fetch(`${service.url}/v1/stream/sse?${query}`, { headers }))
    void events.#read().catch(() => undefined)
    return events
  }

  get status(): number {
    return this.#response.status
  }
  get headers(): Headers {
    return this.#response.headers
  }
  get messages(): Message[] {
    return this.heard.map(({ data }) => JSON.parse(data) as Message)
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const part of this.#response.body ?? []) {
      const text = decoder.decode(part, { stream: true })
      this.text += text
      const blocks = (rest + text).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = new Map(
          block
            .split('\n')
            .filter(line => !line.startsWith(':'))
            .map(line => [line.split(':')[0] ?? '', line.slice(line.indexOf(': ') + 2)]),
        )
        const [id, event, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
        if (event !== undefined && data !== undefined) this.heard.push({ id: id ?? '', event, data })
      }
    }
    this.isOver = true
  }

  async close(): Promise<void> {
    await this.#response.body?.cancel().catch(() => undefined)
  }
}

describe('R-stream-8: GET /v1/stream/sse', () => {
  it('the same records, each named by its type; Last-Event-ID resumes after it, without a gap or a repetition', async () => {
    const headers = await bearer()
    const first = await Events.open(`chain_ids=${CHAIN_ID}&cursor=${seal()}`, headers)
    expect([first.status, first.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    const last = await move()
    await until('replayed and live', () => (first.messages.at(-1)?.stream_sequence ?? 0) >= last)
    expect(first.messages).toEqual((await service.records()).slice(0, first.heard.length))
    expect(first.heard.map(({ event }) => event)).toEqual(first.messages.map(({ type }) => type))
    const middle = first.heard[Math.floor(first.heard.length / 2)]
    const after = (JSON.parse(middle?.data ?? '') as Message).stream_sequence
    const resumed = await Events.open(`chain_ids=${CHAIN_ID}&cursor=${seal()}`, {
      ...headers,
      'last-event-id': middle?.id ?? '',
    })
    const next = await move()
    await until('resumed', () => (resumed.messages.at(-1)?.stream_sequence ?? 0) >= next)
    expect(resumed.messages).toEqual((await service.records(after)).slice(0, resumed.heard.length))
    await Promise.all([first.close(), resumed.close()])
  })

  it('RESET_REQUIRED is an event with an empty id, and the end', async () => {
    const events = await Events.open(`chain_ids=${CHAIN_ID}`, {
      ...(await bearer()),
      'last-event-id': 'nonsense',
    })
    await until('over', () => events.isOver)
    expect(events.heard).toHaveLength(1)
    expect(events.heard[0]?.event).toBe('RESET_REQUIRED')
    expect(JSON.parse(events.heard[0]?.data ?? '')).toMatchObject({ payload: { reason: 'INVALID_CURSOR' } })
    expect(events.text).toContain('\nid\nevent: RESET_REQUIRED\n')
  })

  it('filters like the subscribe frame, with its faults as 400', async () => {
    const headers = await bearer()
    const events = await Events.open(`chain_ids=${CHAIN_ID}&types=SWAP_OBSERVED&cursor=${seal()}`, headers)
    await until('heard', () => events.heard.length > 0)
    expect(new Set(events.heard.map(({ event }) => event))).toEqual(new Set(['SWAP_OBSERVED']))
    await events.close()
    for (const [query, error] of [
      ['', 'chain_ids is empty'],
      ['chain_ids=x', 'chain_ids[0] is not a served chain'],
      ['chain_ids=1,1', 'chain_ids is not strictly ascending at 1'],
      ['chain_ids=1&pool_ids=0x1', 'pool_ids[0] is not 0x and 64 lower-case hex digits'],
      ['chain_ids=1&since=1', /^unknown parameter "since"/],
    ] as const) {
      const { status, body } = await ask(`${service.url}/v1/stream/sse?${query}`, {
        key: await service.key(['stream']),
      })
      expect([query, status]).toEqual([query, 400])
      const text = (body as { error: string }).error
      if (typeof error === 'string') expect(text).toBe(error)
      else expect(text).toMatch(error)
    }
  })

  it('needs scope stream, and a credential', async () => {
    const path = `${service.url}/v1/stream/sse?chain_ids=${CHAIN_ID}`
    expect((await ask(path)).status).toBe(401)
    expect((await ask(path, { key: await service.key(['read']) })).status).toBe(403)
  })
})

describe('W3', () => {
  it('a cursor older than retention is REPLAY_UNAVAILABLE on both transports, never a silent "latest"', async () => {
    await service.store.prune({ nowMs: Date.now() + 1, hours: 0, records: 3, batch: 10_000 })
    const foreign = await subscribe({}, seal({ sequence: 1 }))
    expect(await foreign.untilClosed()).toEqual({ code: 1000, reason: 'REPLAY_UNAVAILABLE' })
    const events = await Events.open(`chain_ids=${CHAIN_ID}&cursor=${seal({ sequence: 1 })}`, await bearer())
    await until('over', () => events.isOver)
    expect(events.messages).toMatchObject([
      { type: 'RESET_REQUIRED', payload: { reason: 'REPLAY_UNAVAILABLE' } },
    ])
  })
})
