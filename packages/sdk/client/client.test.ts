import { afterEach, expect, expectTypeOf, test } from 'vitest'
import { type Answer, type LocalService, localService } from '../testing/localService.ts'
import * as sample from '../testing/sample.ts'
import { QUOTE_ERRORS } from '../wire/error.ts'
import type { TokenQuote } from '../wire/quote.ts'
import { createClient } from './client.ts'
import {
  AssayError,
  ForbiddenError,
  QuoteError,
  RateLimitedError,
  RequestError,
  UnauthenticatedError,
  UnreachableError,
} from './failure.ts'

const KEY = 'assay_abcdefgh_secret'
const POOL = { chain_id: 56, pool_address: sample.address(0xabc) } as const
const TOKEN = { chain_id: 56, token_address: sample.address(0xdef) } as const

let service: LocalService | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

async function serving(answer: Answer | null) {
  service = await localService(() => answer)
  return createClient({ baseUrl: service.url, apiKey: KEY })
}
const lastAsked = () => service?.asked.at(-1)

/** What a call that must fail throws. */
const failure = (call: Promise<unknown>): Promise<AssayError> =>
  call.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: unknown) => {
      expect(error).toBeInstanceOf(AssayError)
      return error as AssayError
    },
  )

test('R-http-2: every endpoint is called with its method, path and query', async () => {
  const client = await serving({ status: 200, body: {} })
  const calls: [() => Promise<unknown>, string][] = [
    [() => client.fetchChains(), 'GET /v1/chains'],
    [() => client.fetchTokens({ chain_id: 56, limit: 7 }), 'GET /v1/tokens?chain_id=56&limit=7'],
    [() => client.search({ address: POOL.pool_address }), `GET /v1/search?address=${POOL.pool_address}`],
    [() => client.fetchPools(), 'GET /v1/pools'],
    [() => client.fetchPools({ chain_id: 1, cursor: 'a+b&c' }), 'GET /v1/pools?chain_id=1&cursor=a%2Bb%26c'],
    [() => client.fetchPool(POOL), `GET /v1/pools/56/${POOL.pool_address}`],
    [
      () => client.fetchPoolEvents({ ...POOL, kind: 'SWAP', from_block: 0 }),
      `GET /v1/pools/56/${POOL.pool_address}/events?kind=SWAP&from_block=0`,
    ],
    [
      () => client.quotePool({ ...POOL, max_age_ms: 0 }),
      `GET /v1/quote/pool/56/${POOL.pool_address}?max_age_ms=0`,
    ],
    [
      () => client.quoteToken({ ...TOKEN, max_hops: 2 }),
      `GET /v1/quote/token/56/${TOKEN.token_address}?max_hops=2`,
    ],
    [() => client.quoteTokens({ tokens: [TOKEN] }), 'POST /v1/quote/tokens'],
    [() => client.fetchCost(TOKEN), `GET /v1/cost/56/${TOKEN.token_address}`],
    [
      () => client.fetchExit({ ...TOKEN, usd: '100,1000' }),
      `GET /v1/exit/56/${TOKEN.token_address}?usd=100%2C1000`,
    ],
    [() => client.fetchHealth({ chain_id: 137 }), 'GET /v1/chains/137/health'],
    [() => client.createSession(), 'POST /v1/session'],
    [
      () => client.createSession({ chain_id: 1, snapshot_sequence: 0 }),
      'POST /v1/session?chain_id=1&snapshot_sequence=0',
    ],
    [() => client.fetchSession(), 'GET /v1/session'],
  ]
  for (const [call, expected] of calls) {
    await call()
    expect(`${lastAsked()?.method} ${lastAsked()?.url}`).toBe(expected)
    expect(lastAsked()?.headers['authorization']).toBe(`Bearer ${KEY}`)
    expect(lastAsked()?.url).not.toContain('assay_')
  }
})

test('a batch is sent as JSON; a session is created without a body and ended without a response body', async () => {
  const client = await serving({ status: 200, body: {} })
  await client.quoteTokens({ tokens: [TOKEN], min_score: 4 })
  expect(lastAsked()?.headers['content-type']).toBe('application/json')
  expect(JSON.parse(lastAsked()?.body ?? '')).toEqual({ tokens: [TOKEN], min_score: 4 })
  await client.createSession({ chain_id: 1 })
  expect(lastAsked()?.body).toBe('')
  await service?.close()
  const ending = await serving({ status: 204 })
  expect(await ending.endSession()).toBe(null)
  expect(lastAsked()?.method).toBe('DELETE')
})

test('without a key the cookie is the only credential; a path prefix of the base URL is kept', async () => {
  service = await localService(() => ({ status: 200, body: {} }))
  await createClient({ baseUrl: `${service.url}/prices/` }).fetchChains()
  expect(lastAsked()).toMatchObject({ url: '/prices/v1/chains' })
  expect(lastAsked()?.headers).not.toHaveProperty('authorization')
})

test('R-wire-6: a response may have unknown future fields', async () => {
  const body = { chains: [], announced: 'later' }
  expect(await (await serving({ status: 200, body })).fetchChains()).toEqual(body)
})

test('R-quote-1: 202 is a state and not an error', async () => {
  const body = {
    state: 'PENDING',
    chain_id: 56,
    token: TOKEN.token_address,
    stage: 'DISCOVERY',
    retry_after_ms: 2000,
  }
  const quote = await (await serving({ status: 202, headers: { 'retry-after': '2' }, body })).quoteToken(
    TOKEN,
  )
  expectTypeOf(quote).toEqualTypeOf<TokenQuote>()
  expectTypeOf<TokenQuote['state']>().toEqualTypeOf<'PRICED' | 'UNPRICED' | 'PENDING'>()
  expect(quote.state === 'PENDING' && quote.retry_after_ms).toBe(2000)
})

test.for([
  [401, UnauthenticatedError, 'UNAUTHENTICATED', false],
  [403, ForbiddenError, 'FORBIDDEN', false],
  [429, RateLimitedError, 'RATE_LIMITED', true],
] as const)(
  'R-error-3: %i has no body and is an error of its own',
  async ([status, Kind, code, retryable]) => {
    const client = await serving({ status, headers: { 'retry-after': '3', 'x-request-id': 'r-1' } })
    const error = await failure(client.quoteToken(TOKEN))
    expect(error).toBeInstanceOf(Kind)
    expect(error).toMatchObject({
      code,
      status,
      retryable,
      retryAfterMs: 3000,
      requestId: 'r-1',
      name: Kind.name,
    })
    expect(error.message).not.toContain(KEY)
  },
)

test('R-error-2: every quote error keeps its code, message and detail', async () => {
  for (const [code, { status, retryable }] of Object.entries(QUOTE_ERRORS)) {
    const client = await serving({ status, body: { code, message: 'why', detail: 'BECAUSE' } })
    const error = await failure(client.quotePool(POOL))
    expect(error).toBeInstanceOf(QuoteError)
    expect(error).toMatchObject({ code, status, retryable, detail: 'BECAUSE', retryAfterMs: null })
    expect(error.message).toContain('why')
    await service?.close()
  }
})

test('an unknown future code is an error too, and its status decides whether to retry', async () => {
  const client = await serving({ status: 503, body: { code: 'ECLIPSE', message: 'dark', detail: null } })
  expect(await failure(client.quotePool(POOL))).toMatchObject({
    code: 'ECLIPSE',
    retryable: true,
    detail: null,
  })
})

test.for([
  [400, 'BAD_REQUEST', false],
  [404, 'NOT_FOUND', false],
  [405, 'METHOD_NOT_ALLOWED', false],
  [500, 'INTERNAL', true],
  [502, 'UNAVAILABLE', true],
  [503, 'UNAVAILABLE', true],
] as const)('R-error-1: %i carries the sentence of the service', async ([status, code, retryable]) => {
  const client = await serving({ status, body: { error: 'cursor is of another query' } })
  const error = await failure(client.fetchPools())
  expect(error).toBeInstanceOf(RequestError)
  expect(error).toMatchObject({ code, status, retryable })
  expect(error.message).toContain('cursor is of another query')
})

test('a proxy’s page in place of a response is reported as one', async () => {
  const html = { status: 200, body: '<html>' }
  expect(await failure((await serving(html)).fetchChains())).toMatchObject({
    code: 'UNEXPECTED_ANSWER',
    status: 200,
  })
  await service?.close()
  expect(await failure((await serving({ ...html, status: 502 })).fetchChains())).toMatchObject({
    code: 'UNAVAILABLE',
  })
})

test('a redirect is not followed, so that the key goes nowhere else', async () => {
  const client = await serving({ status: 302, headers: { location: '/elsewhere' } })
  expect(await failure(client.fetchChains())).toMatchObject({ code: 'NETWORK' })
  expect(service?.asked.length).toBe(1)
})

test('a Retry-After that is not whole seconds is ignored', async () => {
  for (const said of ['soon', '-1', '1.5', 'Wed, 21 Oct 2026 07:28:00 GMT']) {
    const client = await serving({ status: 429, headers: { 'retry-after': said } })
    expect(await failure(client.fetchChains())).toMatchObject({ retryAfterMs: null })
    await service?.close()
  }
})

test('no response in time is a TIMEOUT, no service a NETWORK failure', async () => {
  const client = await serving(null)
  const late = await failure(client.fetchChains({ timeoutMs: 30 }))
  expect(late).toBeInstanceOf(UnreachableError)
  expect(late).toMatchObject({ code: 'TIMEOUT', status: null, retryable: true })
  await service?.close()
  const gone = await failure(client.fetchChains())
  expect(gone).toMatchObject({ code: 'NETWORK', retryable: true })
  expect(gone.cause).toBeInstanceOf(Error)
})

test('an aborted call throws the caller’s reason', async () => {
  const client = await serving(null)
  const control = new AbortController()
  const call = client.fetchChains({ signal: control.signal })
  const reason = new Error('not needed any more')
  control.abort(reason)
  await expect(call).rejects.toBe(reason)
  await expect(client.fetchChains({ signal: control.signal })).rejects.toBe(reason)
})
