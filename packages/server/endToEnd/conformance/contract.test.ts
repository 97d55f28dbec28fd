/** One test per convention and parameter of the API (R-wire, R-quote, R-http, R-session), over a running service. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { getAddress } from 'viem'
import { exact } from '@assay/sdk'
import { isTokenRetract, isTokenUpsert } from '../testing/record.ts'
import { CHAIN_ID, IDLE, planWith } from '../testing/plan.ts'
import { chain, serveChain, service } from '../testing/servedChain.ts'
import { until } from '../testing/until.ts'
import { DescribedApi } from './describedApi.ts'
import { writeExamples } from './examples.ts'

const NOBODY = `0x${'d0'.repeat(20)}`

let api: DescribedApi
let moth: `0x${string}`
let pool: `0x${string}`
serveChain(planWith({ tokens: [IDLE] }), { tokens: ['LARK', 'MOTH'] })
beforeAll(async () => {
  api = await DescribedApi.of(service)
  moth = chain.token('MOTH')
  pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
})
beforeEach(() => service.untilWell())
afterAll(() => {
  if (api !== undefined) writeExamples(api.answers)
})

type Exact = { readonly numerator: string; readonly denominator: string; readonly display: string }
type Candle = Readonly<Record<'open' | 'high' | 'low' | 'close', Exact>> & { readonly records: number }
type State = {
  readonly state: string
  readonly price_usd: Exact
  readonly evaluated_at_ms: number
  readonly as_of: { readonly stream_sequence: number; readonly block_number: number }
}
type Body = Record<string, unknown>

/** A trade that moves the price, and its record. */
async function trade(usd: number) {
  const before = await service.head()
  await service.untilTip(await chain.run(chain.sellV2(pool, 'MOTH', usd)))
  return service.untilRecord('the price after a trade', before, isTokenUpsert(moth))
}

describe('conventions', () => {
  it('R-wire-3: addresses are written in lower case; accepted in any case, mixed case only with a valid checksum', async () => {
    for (const text of [moth, getAddress(moth), `0x${moth.slice(2).toUpperCase()}`]) {
      const { body } = await api.get(`/v1/search?address=${text}`)
      expect(body).toMatchObject({ tokens: [{ token_address: moth }] })
    }
    const wrong = getAddress(moth).replace(/[a-f]/, letter => letter.toUpperCase())
    const swapped = wrong === getAddress(moth) ? wrong.replace(/[A-F]/, each => each.toLowerCase()) : wrong
    expect((await api.get(`/v1/search?address=${swapped}`)).status).toBe(400)
  })

  it('R-wire-4: unknown and repeated query parameters are 400, everywhere', async () => {
    for (const [path, operations] of Object.entries(api.document.paths))
      if (path.startsWith('/v1/'))
        for (const method of Object.keys(operations)) {
          const concrete = path
            .replace('{chain_id}', `${CHAIN_ID}`)
            .replace('{token_address}', moth)
            .replace('{pool_address}', pool)
            .replace(/\{[a-z_]+\}/g, 'x')
          const admin = await service.key(['admin', 'read'])
          for (const query of ['?no_such=1', '?no_such=1&no_such=1']) {
            const answer = await api.ask(`${concrete}${query}`, { method: method.toUpperCase(), key: admin })
            expect([method, path, answer.status]).toEqual([method, path, 400])
          }
        }
  })

  it('R-wire-2: an exact value is reduced, positive, and its display rounds it once', async () => {
    const { body } = await api.get(`/v1/quote/token/${CHAIN_ID}/${moth}`)
    const { price_usd } = body as State
    expect(price_usd.display).toBe(exact.format(exact.from(price_usd)))
  })
})

describe('GET /v1/quote/token', () => {
  const path = (query = '') => `/v1/quote/token/${CHAIN_ID}/${moth}${query}`

  it('is tagged: a request with its tag gets 304 without a body, until the next record', async () => {
    const first = await api.get(path())
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    for (const header of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await api.get(path(), { headers: { 'if-none-match': header } })
      expect([header, again.status, again.text]).toEqual([header, 304, ''])
    }
    expect((await api.get(path(), { headers: { 'if-none-match': '"x"' } })).status).toBe(200)
    await trade(2000)
    const next = await api.get(path(), { headers: { 'if-none-match': etag } })
    expect(next.status).toBe(200)
    expect(next.headers.get('etag')).not.toBe(etag)
  })

  it('R-publish-1: is the last record, byte for byte, however it is requested', async () => {
    const record = await trade(1500)
    const { body } = await api.get(path())
    expect(body).toMatchObject({
      state: 'PRICED',
      source: 'RETRIEVED',
      price_usd: (record.payload as unknown as State).price_usd,
      as_of: { stream_sequence: record.stream_sequence },
    })
    const many = await Promise.all(Array.from({ length: 20 }, () => api.get(path())))
    expect(new Set(many.map(answer => answer.text)).size).toBe(1)
  })

  it('R-quote-2: a quote older than max_age_ms is verified again and recomputed', async () => {
    const { body } = await api.get(path('?max_age_ms=0'))
    expect(body).toMatchObject({ source: 'COMPUTED', state: 'PRICED' })
  })

  it('R-quote-3: narrowed to no route is 422; without narrowing no route is 200 UNPRICED', async () => {
    expect((await api.get(path(`?exclude_pools=${pool}`))).status).toBe(422)
    expect((await api.get(path('?min_depth_usd=1000000000'))).status).toBe(422)
  })

  it('change is null until there is history of an hour', async () => {
    expect((await api.get(path())).body).toMatchObject({ change: null })
  })
})

describe('GET /v1/exit', () => {
  it('R-exit-1: answers each size in the requested order, in the described form', async () => {
    const { status, body } = await api.get(`/v1/exit/${CHAIN_ID}/${moth}?usd=100,5`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      chain_id: CHAIN_ID,
      token: moth,
      sales: [{ asked_microusd: '100000000' }, { asked_microusd: '5000000' }],
    })
  })
})

describe('GET /v1/cost', () => {
  it('R-cost-1: answers every move in the described form, and says that it is an upper bound', async () => {
    const { status, body } = await api.get(`/v1/cost/${CHAIN_ID}/${moth}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ chain_id: CHAIN_ID, token: moth, least_score: 4 })
    const { moves, note } = body as { moves: { direction: string; bps: number }[]; note: string }
    expect(note).toMatch(/cheaper ones may exist/)
    expect(moves.map(({ direction, bps }) => `${direction} ${bps}`)).toEqual([
      'UP 100',
      'DOWN 100',
      'UP 500',
      'DOWN 500',
      'UP 1000',
      'DOWN 1000',
    ])
  })
})

describe('R-quote-5: POST /v1/quote/tokens', () => {
  const ask = (tokens: readonly object[], more: object = {}) =>
    api.post('/v1/quote/tokens', { tokens, ...more })

  it('answers in the requested order, from one snapshot, in compact form', async () => {
    const tokens = [moth, chain.token('LARK'), moth, chain.token('USDC')]
    const { status, body } = await ask(tokens.map(each => ({ chain_id: CHAIN_ID, token_address: each })))
    expect(status).toBe(200)
    const { quotes } = body as { quotes: { token_address: string; quote: State & { routes?: unknown } }[] }
    expect(quotes.map(entry => entry.token_address)).toEqual(tokens)
    for (const { quote } of quotes) {
      expect(quote.state).toBe('PRICED')
      expect(quote.routes).toBeUndefined()
    }
    expect(quotes[0]).toEqual(quotes[2])
  })

  it('an entry that cannot be answered is an error of its own', async () => {
    const { body } = await ask([
      { chain_id: 137, token_address: moth },
      { chain_id: CHAIN_ID, token_address: moth },
    ])
    expect(body).toMatchObject({
      quotes: [{ error: { code: 'UNSUPPORTED_CHAIN' } }, { quote: { state: 'PRICED' } }],
    })
  })

  it('below min_score the entry is an error BELOW_MIN_SCORE', async () => {
    const { body } = await ask([{ chain_id: CHAIN_ID, token_address: moth }], { min_score: 10 })
    expect(body).toMatchObject({
      quotes: [{ error: { code: 'BELOW_MIN_SCORE', detail: expect.stringMatching(/^\d$/) as string } }],
    })
  })

  it('an unknown token is being enrolled', async () => {
    const idle = chain.token('IDLE')
    const entry = async () =>
      ((await ask([{ chain_id: CHAIN_ID, token_address: idle }])).body as { quotes: { quote: State }[] })
        .quotes[0]?.quote
    expect(await entry()).toMatchObject({ state: 'PENDING', stage: 'DISCOVERY' })
    const settled = await chain.untilMining('the token evaluated', async () => {
      const quote = await entry()
      return quote?.state === 'PENDING' ? null : quote
    })
    expect(settled).toMatchObject({ state: 'UNPRICED', reason: 'NO_POOL' })
  })

  it.each([
    ['no tokens', {}, 'the body lacks the field tokens'],
    ['none', { tokens: [] }, 'tokens is []; it must NOT have fewer than 1 items'],
    [
      'too many',
      { tokens: Array.from({ length: 101 }, () => ({ chain_id: 1, token_address: NOBODY })) },
      /^tokens is .*; it must NOT have more than 100 items$/,
    ],
    [
      'a stranger',
      { tokens: [{ chain_id: 1, token_address: NOBODY, x: 1 }] },
      'tokens.0 has an unknown field "x"',
    ],
    [
      'a text for a number',
      { tokens: [{ chain_id: '1', token_address: NOBODY }] },
      'tokens.0.chain_id is "1"; it must be integer',
    ],
    [
      'half a chain',
      { tokens: [{ chain_id: 1.5, token_address: NOBODY }] },
      'tokens.0.chain_id is 1.5; it must be integer',
    ],
    [
      'a score of 11',
      { tokens: [{ chain_id: 1, token_address: NOBODY }], min_score: 11 },
      'min_score is 11; it must be <= 10',
    ],
    ['a list', [], 'the body is []; it must be object'],
    ['nothing', null, 'the body is null; it must be object'],
  ])('a body with %s is refused as a whole, with INVALID_PARAMS', async (_, body, message) => {
    const answer = await api.post('/v1/quote/tokens', body)
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      code: 'INVALID_PARAMS',
      message: typeof message === 'string' ? message : (expect.stringMatching(message) as string),
      detail: null,
    })
  })

  it('a body that is not JSON, of another type, or compressed is refused', async () => {
    const key = await service.key()
    const post = (body: string, headers: Record<string, string>) =>
      api.ask('/v1/quote/tokens', { method: 'POST', key, headers, body })
    expect((await post('{', { 'content-type': 'application/json' })).status).toBe(400)
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect(
      (await post('{}', { 'content-type': 'application/json', 'content-encoding': 'gzip' })).status,
    ).toBe(415)
    expect((await post(' '.repeat(65 * 1024), { 'content-type': 'application/json' })).status).toBe(413)
  })
})

describe('R-quote-7: GET /v1/history/token', () => {
  const path = (query: string, address = moth) => `/v1/history/token/${CHAIN_ID}/${address}?${query}`
  const prices = async (query: string) => {
    const { status, body } = await api.get(path(query))
    expect(status).toBe(200)
    return body as { prices: State[]; next_cursor: string | null }
  }

  it('returns what was published: over a range, in pages, in order', async () => {
    for (const usd of [1000, 1100, 1200]) await trade(usd)
    const whole = await prices('from_ms=0&limit=1000')
    expect(whole.next_cursor).toBeNull()
    // A feed that starved on a slow machine has withdrawn the price meanwhile, and history says so too.
    const log = (await service.records()).filter(
      each => isTokenUpsert(moth)(each) || isTokenRetract(moth)(each),
    )
    expect(whole.prices.map(each => each.as_of.stream_sequence)).toEqual(
      log.map(each => each.stream_sequence),
    )
    const published = log.map(({ payload }) => ('current' in payload ? payload.current : payload))
    expect(whole.prices.map(each => each.price_usd)).toEqual(
      published.map(each => (each as unknown as State).price_usd),
    )
    const paged: State[] = []
    for (let cursor = ''; ; ) {
      const page = await prices(`from_ms=0&limit=2${cursor}`)
      paged.push(...page.prices)
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    expect(paged.slice(0, whole.prices.length)).toEqual(whole.prices)
  })

  it('returns what held at a time, a block and a sequence; nothing before the first', async () => {
    const record = await trade(900)
    const said = record.payload as unknown as State
    await trade(950)
    for (const query of [
      `at_ms=${said.evaluated_at_ms}`,
      `at_block=${said.as_of.block_number}`,
      `at_sequence=${record.stream_sequence}`,
    ])
      expect((await prices(query)).prices.map(each => each.as_of.stream_sequence)).toEqual([
        record.stream_sequence,
      ])
    for (const query of ['at_ms=1', 'at_block=0'])
      expect(await prices(query)).toMatchObject({
        prices: [],
        next_cursor: null,
        feed: { chain_id: CHAIN_ID },
      })
  })

  it('a price past its expiry is returned as UNPRICED ROUTE_EXPIRED, as a reader saw it then', async () => {
    const far = Date.now() + 30 * 86_400_000
    expect((await prices(`at_ms=${far}`)).prices).toMatchObject([
      { state: 'UNPRICED', reason: 'ROUTE_EXPIRED' },
    ])
  })

  it('candles are made of our own published prices; a bucket without evidence is absent', async () => {
    const log = (await service.records())
      .filter(isTokenUpsert(moth))
      .map(each => each.payload as unknown as State)
    const { body } = await api.get(path('from_ms=0&interval=1d&limit=10'))
    const { candles } = body as { candles: Candle[] }
    const days = new Set(log.map(each => Math.floor(each.evaluated_at_ms / 86_400_000)))
    expect(candles).toHaveLength(days.size)
    expect(candles.reduce((sum, each) => sum + each.records, 0)).toBe(log.length)
    expect(candles.at(-1)?.close).toEqual(log.at(-1)?.price_usd)
    expect(candles[0]?.open).toEqual(log[0]?.price_usd)
    for (const { open, high, low, close } of candles)
      for (const value of [open, close]) {
        expect(exact.compare(exact.from(low), exact.from(value))).toBeLessThanOrEqual(0)
        expect(exact.compare(exact.from(high), exact.from(value))).toBeGreaterThanOrEqual(0)
      }
  })

  it.each([
    ['at_ms=1&at_block=1', 'at_ms must be given alone; it was given with at_block'],
    ['at_sequence=1&interval=1m', 'at_sequence must be given alone; it was given with interval'],
    ['interval=2m', 'interval is "2m"; expected one of 1m, 5m, 1h, 1d'],
    ['from_ms=5&to_ms=5', 'from_ms is 5; expected it before to_ms, which is 5'],
    ['limit=0', 'limit is "0"; expected an integer from 1 to 1000'],
    [
      'cursor=AAAAAAAAAAAAAAAAAAAAAAAA',
      'cursor does not belong to this query; expected the next_cursor of its previous page',
    ],
  ])('with %s is 400', async (query, error) => {
    const { status, body } = await api.get(path(query))
    expect([status, body]).toEqual([400, { error }])
  })

  it('of an unknown token is 404', async () => {
    expect((await api.get(path('at_ms=1', NOBODY as `0x${string}`))).status).toBe(404)
  })
})

describe('R-http-3: GET /v1/pools/{chain_id}/{pool_address}/events', () => {
  it('a page has 100 rows by default, and the next continues where it ended', async () => {
    const pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    await service.untilTip(
      await chain.run(...Array.from({ length: 70 }, () => chain.sellV2(pool, 'MOTH', 1))),
    )
    const page = async (query: string) =>
      (await api.get(`/v1/pools/${CHAIN_ID}/${pool}/events?${query}`)).body as {
        events: { block_number: number; log_index: number }[]
        next_cursor: string
      }
    // Rows become final while we look: pages are of one moment where the whole is the same before and after them.
    const { whole, first, second } = await until('pages of one moment', async () => {
      const before = await page('limit=1000')
      const first = await page('')
      const second = await page(`cursor=${first.next_cursor}`)
      const whole = await page('limit=1000')
      return JSON.stringify(before.events) === JSON.stringify(whole.events) && { whole, first, second }
    })
    expect(first.events).toEqual(whole.events.slice(0, 100))
    expect(second.events).toEqual(whole.events.slice(100, 200))
    expect(second.events.length).toBeGreaterThan(0)
  })
})

describe('R-policy-3: GET /v1/policies/{policy_version}', () => {
  it('returns the numbers that records name; an unknown version is 404, other text 400', async () => {
    const { policy_version } = (await api.get(`/v1/quote/token/${CHAIN_ID}/${moth}`)).body as Body
    const { body } = await api.get(`/v1/policies/${String(policy_version)}`)
    expect(body).toMatchObject({ policy_version })
    expect((await api.get(`/v1/policies/p${'0'.repeat(32)}`)).status).toBe(404)
    expect((await api.get('/v1/policies/default')).status).toBe(400)
  })
})

describe('R-session-1, R-session-3: sessions', () => {
  it('GET and DELETE: returns it, then it is gone for good', async () => {
    const key = await service.key()
    const made = await api.ask('/v1/session', { method: 'POST', key })
    expect(made.body).toMatchObject({ resume_cursor: null, cursor_expires_at_ms: null })
    const cookie = (made.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const origin = service.url
    expect((await api.ask('/v1/session', { headers: { cookie } })).body).toMatchObject({
      scopes: ['read', 'stream'],
    })
    expect((await api.ask('/v1/session', { key })).status).toBe(404)
    const ended = await api.ask('/v1/session', { method: 'DELETE', headers: { cookie, origin } })
    expect(ended.status).toBe(204)
    expect(ended.headers.get('set-cookie')).toContain('Max-Age=0')
    expect((await api.ask('/v1/session', { headers: { cookie } })).status).toBe(401)
  })

  it('snapshot_sequence without chain_id, above the head, or of another epoch is 400', async () => {
    const key = await service.key()
    const post = (query: string) => api.ask(`/v1/session?${query}`, { method: 'POST', key })
    for (const query of [
      'snapshot_sequence=1',
      'chain_id=1&snapshot_sequence=99999999',
      `chain_id=1&snapshot_sequence=${2 ** 40 + 1}`,
    ])
      expect([query, (await post(query)).status]).toEqual([query, 400])
  })
})

describe('R-http-1: outside /v1', () => {
  it('/healthz, /readyz, /metrics, /openapi.json and /docs answer without a credential', async () => {
    expect((await api.ask('/healthz')).body).toEqual({ status: 'ok' })
    expect((await api.ask('/readyz')).status).toBe(200)
    for (const path of ['/metrics', '/docs', '/docs.js', '/docs.css', '/']) {
      const response = await fetch(`${service.url}${path}`)
      const text = await response.text()
      expect([path, response.status]).toEqual([path, 200])
      // Nothing is loaded from elsewhere.
      expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
    }
  })

  it('/metrics shows chains, requests, the log and the store, and names no key and no URL', async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    for (const name of [
      'assay_chain_processed_block{chain_id="1"}',
      'assay_chain_status{chain_id="1",status="HEALTHY"}',
      'assay_http_requests_total{method="GET",route="/v1/quote/token/:chain_id/:token_address",status="200"}',
      'assay_log_head_sequence',
      'assay_commit_seconds_count{chain_id="1"}',
      'assay_store_seconds_count{call="readQuote"}',
      'assay_records_total{chain_id="1",type="PRICE_UPSERT"}',
      'assay_endpoint_error_rate{chain_id="1",endpoint="world"}',
    ])
      expect(text).toContain(name)
    expect(text).not.toMatch(/assay_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}|127\.0\.0\.1|ws:/)
    const forwarded = await fetch(`${service.url}/metrics`, { headers: { 'x-forwarded-for': '127.0.0.1' } })
    expect([forwarded.status, await forwarded.text()]).toEqual([403, ''])
  })
})

describe('the SDK', () => {
  it('has a typed call for every endpoint, and parses its response', async () => {
    const client = await service.client(['read', 'stream', 'admin'])
    const at = { chain_id: CHAIN_ID, token_address: moth }
    expect((await client.quoteTokens({ tokens: [at] })).quotes).toHaveLength(1)
    expect((await client.fetchHistory({ ...at, from_ms: 0 })).prices.length).toBeGreaterThan(0)
    expect((await client.fetchCandles({ ...at, interval: '1h' })).candles.length).toBeGreaterThan(0)
    const { policy_version } = await client.admin.fetchPolicy()
    expect(await client.fetchPolicy(policy_version)).toMatchObject({ policy_version })
    const { key, key_id } = await client.admin.issueKey({ consumer: 'sdk', name: 'sdk', scopes: ['read'] })
    expect(key).toContain(key_id)
    expect((await client.admin.fetchKeys()).keys.some(each => each.key_id === key_id)).toBe(true)
    const rolled = await client.admin.rollKey(key_id)
    await client.admin.revokeKey(rolled.key_id)
    const { limits } = await client.admin.fetchConsumer('sdk')
    expect((await client.admin.setLimits('sdk', { ...limits, burst: 5 })).limits.burst).toBe(5)
    expect(await client.admin.enrolToken(at)).toMatchObject({ state: 'PRICED' })
    expect((await client.admin.tryPolicy({})).changes).toEqual([])
    const retention = await client.admin.fetchRetention()
    expect(await client.admin.setRetention(retention)).toEqual(retention)
    expect((await client.admin.fetchAudit({ limit: 3 })).entries).toHaveLength(3)
    await expect(client.admin.revokeKey('nobody00')).rejects.toMatchObject({ status: 404 })
  })
})
