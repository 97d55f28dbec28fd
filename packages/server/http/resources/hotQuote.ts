/**
 * Fast path for the most frequent request: the published quote of a token, with a recently verified key. It is answered
 * before the router. Any other request takes the normal path, which gives the same answer.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Principal } from '../../access/access.ts'
import { hasTwoCredentials } from '../../access/credentials.ts'
import { requestId } from '../../ops/requestId.ts'
import type { Connections } from '../plumbing/connections.ts'
import type { HttpContext } from '../plumbing/context.ts'
import type { AnswerSeries } from '../plumbing/metrics.ts'
import { quotaHeaders } from '../plumbing/quotaHeaders.ts'
import { mayRead } from '../admission.ts'
import { isNamedIn, type QuoteKey, type ReadyQuote } from '../views/quoteCache.ts'
import { JSON_TYPE } from '../plumbing/request.ts'

type Needs = Pick<HttpContext, 'access' | 'chains' | 'clock' | 'config' | 'limit' | 'metrics' | 'quotes'>

const PATH = '/v1/quote/token/'
const TOKEN = /^([1-9][0-9]{0,14})\/(0x[0-9a-f]{40})$/
const ROUTE = '/v1/quote/token/:chain_id/:token_address'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Must run before the app's own listener. */
export function answerHotQuotes(server: Server, context: Needs, connections: Connections): void {
  const handle = server.listeners('request').at(-1) as Listener | undefined
  if (handle === undefined) throw new Error('the app has no listener to replace')
  const hot = new HotQuotes(context, handle)
  server.removeListener('request', handle)
  server.on('request', (request, response) => {
    if (!connections.heard(request.socket, response)) return
    if (!connections.isFull && hot.take(request, response)) connections.admit(request.socket)
    else handle(request, response)
  })
}

class HotQuotes {
  readonly #context: Needs
  readonly #handle: Listener
  readonly #full: AnswerSeries
  readonly #notModified: AnswerSeries

  constructor(context: Needs, handle: Listener) {
    this.#context = context
    this.#handle = handle
    this.#full = context.metrics.answersOf('GET', ROUTE, 200)
    this.#notModified = context.metrics.answersOf('GET', ROUTE, 304)
  }

  /** False, with nothing done or charged, for any other request. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = '', method } = request
    if (method !== 'GET' || !url.startsWith(PATH)) return false
    const { authorization, origin } = request.headers
    if (authorization === undefined || hasTwoCredentials(request)) return false
    const { access, quotes, clock, chains, config } = this.#context
    // The normal path adds the headers for pages of other origins.
    if (origin !== undefined && config.access.corsOrigins.length > 0) return false
    const startMs = clock.monotonicMs()
    const nowMs = clock.nowMs()
    const principal = access.recall(authorization, startMs, nowMs)
    if (principal === null || !mayRead(principal.scopes)) return false
    const rest = url.slice(PATH.length)
    const ready = quotes.recall(rest as QuoteKey, nowMs)
    if (ready !== null) return this.#send(principal, ready, request, response, startMs)
    const [, chain, token] = TOKEN.exec(rest) ?? []
    if (token === undefined) return false
    const chainId = Number(chain)
    if (!chains.has(chainId) || !this.#hasRoom(principal)) return false
    const otherwise = () => this.#handle(request, response)
    quotes.read(chainId, token, nowMs).then(read => {
      if (read === null || !this.#send(principal, read, request, response, startMs)) otherwise()
    }, otherwise)
    return true
  }

  /** Whether a unit is left: a consumer without one is refused before anything is read for it. */
  #hasRoom({ consumer, limits }: Principal): boolean {
    const { limit } = this.#context
    return limit.take(consumer, 0, limits ?? limit.quota).remaining >= 1
  }

  /** False, with nothing sent, when its quota is spent. */
  #send(
    principal: Principal,
    { body, bytes, etag }: ReadyQuote,
    request: IncomingMessage,
    response: ServerResponse,
    startMs: number,
  ): boolean {
    const { limit } = this.#context
    const quota = principal.limits ?? limit.quota
    const verdict = limit.take(principal.consumer, 1, quota, startMs)
    if (!verdict.allowed) return false
    const isKnown = isNamedIn(request.headers['if-none-match'], etag)
    const headers = [
      'x-request-id',
      requestId(),
      'cache-control',
      'private, no-cache',
      ...quotaHeaders.of(quota, verdict),
      'etag',
      etag,
      'content-type',
      JSON_TYPE,
      'content-length',
      `${bytes}`,
    ]
    // A 304 has no body, and so neither a type nor a length.
    if (isKnown) response.writeHead(304, headers.slice(0, -4)).end()
    // When every character is one byte, the faster encoding is correct.
    else response.writeHead(200, headers).end(body, bytes === body.length ? 'latin1' : 'utf8')
    const { requests, times } = isKnown ? this.#notModified : this.#full
    requests.add()
    times.observe((this.#context.clock.monotonicMs() - startMs) / 1000)
    return true
  }
}
