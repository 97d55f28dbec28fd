/**
 * The HTTP API. Every request is authenticated before anything else: credential, scope, quota. Errors become statuses
 * in one place, and no stack trace ever leaves the process.
 */
import type { ServerOptions } from 'node:http'
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { holdsKey } from '../access/apiKey.ts'
import { hasTwoCredentials, presentedIn } from '../access/presented.ts'
import { requestId } from '../ops/requestId.ts'
import { keepTickShape } from '../ops/tickShape.ts'
import { StoreError } from '../store/storeError.ts'
import { ChainDown } from '../worker/chainService.ts'
import { registerAdmin } from './admin/admin.ts'
import { Allowed } from './plumbing/allowed.ts'
import { Crowded, isQuotePath, QuoteError, Refusal, RequestError, statusOf } from './plumbing/apiError.ts'
import { registerBatch } from './resources/batch.ts'
import { registerChains } from './resources/chains.ts'
import { charge } from './plumbing/charge.ts'
import { registerCompat } from './compat/compat.ts'
import { COMPAT, failureBody, vendorKey, vendorOf } from './compat/vendor.ts'
import { answerBroken } from './plumbing/clientError.ts'
import { Connections } from './plumbing/connections.ts'
import type { HttpContext } from './plumbing/context.ts'
import { Cors } from './plumbing/cors.ts'
import { registerDocuments } from './resources/documents.ts'
import { registerExport } from './resources/export.ts'
import { registerHistory } from './resources/history.ts'
import { answerHotQuotes } from './resources/hotQuote.ts'
import { MCP_PATH, registerMcp } from './mcp/route.ts'
import { registerMetrics } from './resources/metricsRoute.ts'
import { registerPage } from './resources/page.ts'
import { registerPolicies } from './resources/policies.ts'
import { registerPools } from './resources/pools.ts'
import { registerProbes } from './resources/probes.ts'
import { registerCost } from './resources/cost.ts'
import { registerExit } from './resources/exit.ts'
import { registerQuotes } from './resources/quotes.ts'
import { assertOwnPage, registerSession } from './resources/session.ts'
import { registerEventStream } from './resources/sse.ts'
import { registerTokens } from './resources/tokens.ts'
import { registerWebhooks } from './webhooks/webhooks.ts'

const MAX_HEADERS = 16 * 1024
const MAX_BODY = 16 * 1024
const MAX_URL = 8 * 1024
const HEADERS_MS = 5000
const HANDLER_MS = 10_000
/** Interval of checks for sockets that are slow with their headers: they are closed within six seconds. */
const LOOK_MS = 500
/**
 * Options of the server. Node supports `optimizeEmptyRequests` but its types do not: a request without a body then has
 * no stream to drain.
 */
export const HTTP: ServerOptions & { readonly optimizeEmptyRequests: boolean } = {
  maxHeaderSize: MAX_HEADERS,
  headersTimeout: HEADERS_MS,
  connectionsCheckingInterval: LOOK_MS,
  optimizeEmptyRequests: true,
}
/** The paths that an operator's monitoring requests. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])
const EVENT_STREAM = '/v1/stream/sse'

export function buildApp(context: HttpContext): FastifyInstance {
  keepTickShape()
  const app = fastify({
    bodyLimit: MAX_BODY,
    requestTimeout: HANDLER_MS,
    http: HTTP,
    clientErrorHandler: answerBroken,
    frameworkErrors: (_, request, reply) => answerUndecodable(context, request, reply),
    routerOptions: { maxParamLength: 200 },
    genReqId: requestId,
    logger: false,
    exposeHeadRoutes: false,
    // At shutdown, a request on an open connection is still answered, and then the connection is closed.
    return503OnClosing: false,
  })
  const connections = new Connections(app.server, context.addresses)
  app.decorate('connections', connections)
  const cors = new Cors(context.config.access.corsOrigins)
  const allowed = new Allowed()
  allowed.watch(app)
  context.metrics.watch(app)
  app.decorateRequest('principal', null)
  // Bodies stay raw: the endpoints that read one validate it.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  app.addHook('onRequest', async (request, reply) => {
    forgetTypeOfNothing(request)
    void reply.header('x-request-id', request.id)
    // Operators use our own pages.
    if (isApi(request) && !isAdmin(request) && cors.greet(request, reply)) return reply
    return admit(context, request, reply)
  })
  app.setErrorHandler((error: FastifyError, request, reply) =>
    // The framework refuses a QUERY without a body before checking whether any route serves it.
    request.is404 && request.method === 'QUERY'
      ? answerUnknown(allowed, request, reply)
      : answerError(context, error, request, reply),
  )
  app.setNotFoundHandler((request, reply) => answerUnknown(allowed, request, reply))
  registerProbes(app, context)
  registerMetrics(app, context)
  registerDocuments(app)
  registerPage(app, context.consoleFolder)
  registerChains(app, context)
  registerTokens(app, context)
  registerPools(app, context)
  registerQuotes(app, context)
  registerExit(app, context)
  registerCost(app, context)
  registerBatch(app, context)
  registerHistory(app, context)
  registerExport(app, context)
  registerPolicies(app, context)
  registerSession(app, context)
  registerEventStream(app, context)
  registerWebhooks(app, context)
  registerAdmin(app, context)
  registerCompat(app, context)
  registerMcp(app, context)
  answerHotQuotes(app.server, context, connections)
  return app
}

/** A request without a body ends before its handler could wait for it: a content type would make the framework wait. */
function forgetTypeOfNothing({ headers }: FastifyRequest): void {
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
    delete headers['content-type']
}

/**
 * The path of a request by its matched route: the router decodes `/%761/chains` before it matches, so the text of the
 * URL is not enough. An unmatched path has only that text.
 */
const pathFor = (request: FastifyRequest): string =>
  request.routeOptions.url ?? request.url.split('?')[0] ?? ''
const isApi = (request: FastifyRequest): boolean => isCompat(request) || pathFor(request).startsWith('/v1/')
const isCompat = (request: FastifyRequest): boolean => pathFor(request).startsWith(COMPAT)
const isMcp = (request: FastifyRequest): boolean => pathFor(request) === MCP_PATH
const isAdmin = (request: FastifyRequest): boolean => pathFor(request).startsWith('/v1/admin/')
const isQuote = (request: FastifyRequest): boolean => isQuotePath(pathFor(request))

async function admit(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!isApi(request) && !isMcp(request)) return admitStranger(request, reply)
  void reply.header('cache-control', 'no-store')
  const isKeyInUrl = holdsKey(request.url)
  if (hasTwoCredentials(request.raw)) {
    admitStranger(request, reply)
    throw new RequestError(400, 'there are two Authorization headers; expected one')
  }
  // On the compat endpoints a key may arrive in the header that the vendors' clients use.
  const key = isCompat(request) ? vendorKey(request.headers) : undefined
  const headers = key === undefined ? request.headers : { authorization: `Bearer ${key}`, ...request.headers }
  const { bearer, cookie } = presentedIn(headers, context.config.listen.publicOrigin)
  // Agents have keys: none of our pages calls this endpoint.
  const presented = { bearer, cookie: isMcp(request) ? null : cookie }
  if (presented.bearer === null && presented.cookie === null && !isKeyInUrl) {
    admitStranger(request, reply)
    throw new Refusal(401)
  }
  const principal = isKeyInUrl ? null : await context.access.authenticate(presented)
  if (principal === null) {
    admitStranger(request, reply)
    const waitMs = context.failures.fail(context.addresses.of(request.raw).address)
    throw waitMs === null ? new Refusal(401) : new Refusal(429, waitMs)
  }
  request.principal = principal
  // An agent's message costs as much as the tool calls in its body.
  await charge(context, request, reply, isMcp(request) ? 0 : 1)
  const { connections } = request.server
  if (!connections.admit(request.raw.socket)) throw new Crowded(connections.most)
  if (request.url.length > MAX_URL)
    throw new RequestError(414, `the URL has ${request.url.length} characters; expected at most ${MAX_URL}`)
  if (!mayUse(context, principal.scopes, request)) throw new Refusal(403)
  assertOwnPage(context, request)
}

/**
 * Handles a request without a valid credential: when all connections are taken only probes are answered, so that no
 * supervisor restarts a busy node.
 */
function admitStranger(request: FastifyRequest, reply: FastifyReply): void {
  const { connections } = request.server
  connections.distrust(request.raw.socket)
  if (!connections.isFull) return
  if (!PROBES.has(pathFor(request))) throw new Crowded(connections.most)
  void reply.header('connection', 'close')
}

/**
 * `read` covers every GET of the API but the stream, the batch and the session; `stream` also the snapshot, the session
 * and webhooks.
 */
function mayUse(context: HttpContext, scopes: readonly string[], request: FastifyRequest): boolean {
  const path = pathFor(request)
  if (path === '/v1/session') return scopes.includes('read') || scopes.includes('stream')
  if (isAdmin(request)) return mayOperate(context, scopes, request)
  if (path === EVENT_STREAM || isWebhook(path))
    return scopes.includes('stream') || (isWebhook(path) && mayOperate(context, scopes, request))
  return scopes.includes('read') || (path === '/v1/pools' && scopes.includes('stream'))
}

const isWebhook = (path: string): boolean => path === '/v1/webhooks' || path.startsWith('/v1/webhooks/')

const mayOperate = (context: HttpContext, scopes: readonly string[], request: FastifyRequest): boolean =>
  scopes.includes('admin') && context.addresses.isAllowed(request.raw)

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
    const vendor = vendorOf(pathFor(request))
    const { status } = failure
    return reply
      .code(status)
      .send(vendor === null ? undefined : failureBody(vendor, pathFor(request), status))
  }
  if (failure instanceof QuoteError) {
    const { code, message, detail } = failure
    if (statusOf(code) >= 500)
      context.log.info('a quote failed', {
        request_id: request.id,
        route: request.routeOptions.url,
        code,
        detail,
      })
    if (failure.retryAfterS !== null) void reply.header('retry-after', failure.retryAfterS)
    const vendor = vendorOf(pathFor(request))
    if (vendor !== null) return answer(request, reply, statusOf(code), message)
    return reply.code(statusOf(code)).send({ code, message, detail })
  }
  // A client that retries in a second may find a free slot.
  if (failure instanceof Crowded)
    return answer(request, reply.headers({ 'retry-after': 1, connection: 'close' }), 503, failure.message)
  if (failure instanceof ChainDown)
    return answer(request, reply.header('retry-after', 1), 503, `${failure.message}; try again`)
  if (failure instanceof StoreError && failure.retryable) {
    context.log.warn('a request failed: the database is busy or unreachable', {
      request_id: request.id,
      error: failure.message,
    })
    return answer(
      request,
      reply.header('retry-after', 1),
      503,
      'the database is busy or unreachable; try again',
    )
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
    'internal error; the request id identifies the log line for the operator',
  )
}

/** A malformed quote request has a code; a request that never reached a quote endpoint has only a sentence. */
function answer(request: FastifyRequest, reply: FastifyReply, status: number, message: string): FastifyReply {
  const vendor = vendorOf(pathFor(request))
  if (vendor !== null) return reply.code(status).send(failureBody(vendor, pathFor(request), status, message))
  const body =
    isQuote(request) && status === 400
      ? { code: 'INVALID_PARAMS', message, detail: null }
      : { error: message }
  return reply.code(status).send(body)
}

const clientFault = (error: FastifyError): string =>
  error.code === 'FST_ERR_CTP_BODY_TOO_LARGE'
    ? 'the body is too large; expected at most 16 KiB, or 64 KiB for a batch'
    : error.message

/** 405 with Allow where the path exists under another method, 404 otherwise. */
function answerUnknown(allowed: Allowed, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const methods = allowed.at(request.url.split('?')[0] ?? '/')
  if (methods !== null && !methods.includes(request.method))
    return answer(
      request,
      reply.header('allow', methods.join(', ')),
      405,
      `${request.method} is not allowed here; expected ${methods.join(' or ')}`,
    )
  return answer(
    request,
    reply,
    404,
    vendorOf(pathFor(request)) === null
      ? 'there is no such resource; start with GET /v1/chains'
      : 'this endpoint is not served here; docs/MIGRATING.md lists those that are',
  )
}

/** A URL that cannot be decoded reaches no route and no hook, so the credential is checked here. */
function answerUndecodable(context: HttpContext, request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', request.id)
  admit(context, request, reply).then(
    () => answer(request, reply, 400, 'the URL cannot be decoded; expected UTF-8, percent-encoded'),
    (failure: FastifyError) => answerError(context, failure, request, reply),
  )
}
