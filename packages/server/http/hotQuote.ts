/**
 * The question asked most, answered before the router: the published quote of a token, by a key that was seen a
 * moment ago, from memory. Whatever is not exactly that goes the long way and finds the same answer there.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { HttpContext } from './context.ts'
import { isNamedIn } from './quoteCache.ts'
import { JSON_TYPE } from './request.ts'

const QUOTE = /^\/v1\/quote\/token\/([1-9][0-9]{0,14})\/(0x[0-9a-f]{40})$/
const ROUTE = '/v1/quote/token/:chain_id/:token_address'
const BEARER = 'Bearer '

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Stands before the app's own listener; `isFull` says that sockets are short. */
export function answerHotQuotes(server: Server, context: HttpContext, isFull: () => boolean): void {
  const [handle] = server.listeners('request') as Listener[]
  if (handle === undefined) throw new Error('the app has no listener to stand before')
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    if (isFull() || !answered(context, request, response)) handle(request, response)
  })
}

/** False, and nothing done or charged, when it is not that question. */
function answered(context: HttpContext, request: IncomingMessage, response: ServerResponse): boolean {
  if (request.method !== 'GET') return false
  const { authorization, 'if-none-match': tags } = request.headers
  if (authorization?.startsWith(BEARER) !== true) return false
  const asked = QUOTE.exec(request.url ?? '')
  if (asked === null) return false
  const startMs = performance.now()
  const quote = context.quotes.recall(Number(asked[1]), asked[2] as string, context.clock.nowMs())
  if (quote === null) return false
  const principal = context.access.recall(authorization.slice(BEARER.length))
  if (principal === null || !principal.scopes.includes('read')) return false
  const quota = principal.limits ?? context.limit.quota
  const { allowed, remaining, waitMs } = context.limit.take(principal.consumer, 1, quota)
  if (!allowed) return false
  const status = isNamedIn(tags, quote.etag) ? 304 : 200
  const headers = [
    'x-request-id',
    randomUUID(),
    'cache-control',
    'private, no-cache',
    'ratelimit-policy',
    `"default";q=${quota.units};w=${quota.windowMs / 1000}`,
    'ratelimit',
    `"default";r=${Math.max(0, remaining)};t=${Math.ceil(waitMs / 1000)}`,
    'etag',
    quote.etag,
  ]
  if (status === 304) response.writeHead(304, headers).end()
  else
    response
      .writeHead(200, [...headers, 'content-type', JSON_TYPE, 'content-length', `${quote.body.length}`])
      .end(quote.body)
  context.metrics.answered(request.method, ROUTE, status, (performance.now() - startMs) / 1000)
  return true
}
