/**
 * The HTTP API. Every request is told who it is before anything else: credential, scope, quota. Errors become
 * statuses in one place, and no stack ever leaves the process.
 */
import { randomUUID } from 'node:crypto'
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { holdsKey } from '../access/apiKey.ts'
import { presentedIn } from '../access/presented.ts'
import { QuoteError, Refusal, RequestError, statusOf } from './apiError.ts'
import { registerChains } from './chains.ts'
import { charge } from './charge.ts'
import type { HttpContext } from './context.ts'
import { registerPage } from './page.ts'
import { registerPools } from './pools.ts'
import { registerProbes } from './probes.ts'
import { registerQuotes } from './quotes.ts'
import { assertOwnOrigin, registerSession } from './session.ts'
import { registerTokens } from './tokens.ts'

const MAX_HEADERS = 16 * 1024
const MAX_BODY = 16 * 1024
const MAX_URL = 8 * 1024
const HEADERS_MS = 5000
const HANDLER_MS = 10_000

export function buildApp(context: HttpContext): FastifyInstance {
  const app = fastify({
    bodyLimit: MAX_BODY,
    requestTimeout: HANDLER_MS,
    http: { maxHeaderSize: MAX_HEADERS, headersTimeout: HEADERS_MS },
    routerOptions: { maxParamLength: 200 },
    genReqId: () => randomUUID(),
    logger: false,
    exposeHeadRoutes: false,
  })
  app.decorateRequest('principal', null)
  // A body nobody asked for is not parsed: the endpoints of this API read none.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  app.addHook('onRequest', async (request, reply) => admit(context, request, reply))
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(context, error, request, reply))
  app.setNotFoundHandler((request, reply) => answerUnknown(request, reply))
  registerProbes(app, context)
  registerPage(app)
  registerChains(app, context)
  registerTokens(app, context)
  registerPools(app, context)
  registerQuotes(app, context)
  registerSession(app, context)
  return app
}

/**
 * Where a request leads, by the route it was matched to: the router decodes `/%761/chains` before it matches, so the
 * text of the URL does not say. A path that leads nowhere has only that text.
 */
const pathFor = (request: FastifyRequest): string =>
  request.routeOptions.url ?? request.url.split('?')[0] ?? ''
const isApi = (request: FastifyRequest): boolean => pathFor(request).startsWith('/v1/')
const isQuote = (request: FastifyRequest): boolean => pathFor(request).startsWith('/v1/quote/')

async function admit(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.header('x-request-id', request.id)
  if (!isApi(request)) return
  void reply.header('cache-control', 'no-store')
  const isKeyInUrl = holdsKey(request.url)
  const presented = presentedIn(request.headers)
  if (presented.bearer === null && presented.cookie === null && !isKeyInUrl) throw new Refusal(401)
  const principal = isKeyInUrl ? null : await context.access.authenticate(presented)
  if (principal === null) {
    const waitMs = context.failures.fail(request.socket.remoteAddress ?? '')
    throw waitMs === null ? new Refusal(401) : new Refusal(429, waitMs)
  }
  request.principal = principal
  charge(context, request, reply, 1)
  if (request.url.length > MAX_URL)
    throw new RequestError(414, `the URL has ${request.url.length} characters; expected at most ${MAX_URL}`)
  if (!mayUse(principal.scopes, request)) throw new Refusal(403)
  assertOwnOrigin(context, request)
}

/** `read` is every GET of the API and the session; `stream` the snapshot and the session. */
function mayUse(scopes: readonly string[], request: FastifyRequest): boolean {
  const path = pathFor(request)
  if (path === '/v1/session') return scopes.includes('read') || scopes.includes('stream')
  if (path.startsWith('/v1/admin/')) return scopes.includes('admin')
  return scopes.includes('read') || (path === '/v1/pools' && scopes.includes('stream'))
}

function answerError(
  context: HttpContext,
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure: Error = error
  if (failure instanceof Refusal) {
    if (failure.status === 401) void reply.header('www-authenticate', 'Bearer')
    if (failure.retryAfterS !== null) void reply.header('retry-after', failure.retryAfterS)
    return reply.code(failure.status).send()
  }
  if (failure instanceof QuoteError) {
    const { code, message, detail } = failure
    return reply.code(statusOf(code)).send({ code, message, detail })
  }
  if (failure instanceof RequestError) return answer(request, reply, failure.status, failure.message)
  const status = error.statusCode ?? 500
  if (status < 500) return answer(request, reply, status, clientFault(error))
  context.log.error('a request failed', {
    request_id: request.id,
    method: request.method,
    route: request.routeOptions.url,
    error: failure.message,
  })
  return answer(
    request,
    reply,
    500,
    'something went wrong here; the request id tells the operator where to look',
  )
}

/** A malformed quote is a quote error; what is wrong with the path, the method or us has no code among those. */
/** A malformed quote request has a code; what never reached a quote has only a sentence. */
function answer(request: FastifyRequest, reply: FastifyReply, status: number, message: string): FastifyReply {
  const body =
    isQuote(request) && status === 400
      ? { code: 'INVALID_PARAMS', message, detail: null }
      : { error: message }
  return reply.code(status).send(body)
}

const clientFault = (error: FastifyError): string =>
  error.code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? `the body is larger than ${MAX_BODY} bytes` : error.message

/** Paths of the API and what may be done there. */
const RESOURCES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^\/v1\/(chains|tokens|search|pools)$/, ['GET']],
  [/^\/v1\/session$/, ['GET', 'POST', 'DELETE']],
  [/^\/v1\/(pools|quote\/pool|quote\/token)\/[^/]+\/[^/]+$/, ['GET']],
  [/^\/v1\/pools\/[^/]+\/[^/]+\/events$/, ['GET']],
  [/^\/v1\/chains\/[^/]+\/health$/, ['GET']],
  [/^\/(healthz|readyz)?$/, ['GET']],
]

/** 405 with Allow where the path exists under another method, 404 otherwise. */
function answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?')[0] ?? '/'
  const allowed = RESOURCES.find(([pattern]) => pattern.test(path))?.[1]
  if (allowed !== undefined && !allowed.includes(request.method))
    return answer(
      request,
      reply.header('allow', allowed.join(', ')),
      405,
      `${request.method} is not served here; expected ${allowed.join(' or ')}`,
    )
  return answer(request, reply, 404, 'there is no such resource; GET /v1/chains is a good start')
}
