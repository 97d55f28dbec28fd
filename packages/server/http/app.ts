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
import { requestId } from '../ops/requestId.ts'
import { keepTickShape } from '../ops/tickShape.ts'
import { registerAdmin } from './admin/admin.ts'
import { admit } from './admission.ts'
import { AllowedMethods } from './plumbing/allowedMethods.ts'
import { registerBatch } from './resources/batch.ts'
import { registerChains } from './resources/chains.ts'
import { registerCompat } from './compat/compat.ts'
import { answerBroken } from './plumbing/clientError.ts'
import { Connections } from './plumbing/connections.ts'
import type { HttpContext } from './plumbing/context.ts'
import { Cors } from './plumbing/cors.ts'
import { registerDocuments } from './resources/documents.ts'
import { registerExport } from './resources/export.ts'
import { registerHistory } from './resources/history.ts'
import { answerHotQuotes } from './resources/hotQuote.ts'
import { answer, answerError, answerUnknown } from './failures.ts'
import { registerMcp } from './mcp/route.ts'
import { isForPrograms } from './paths.ts'
import { registerMetrics } from './resources/metricsRoute.ts'
import { registerConsolePage } from './resources/consolePage.ts'
import { registerPolicies } from './resources/policies.ts'
import { registerPools } from './resources/pools.ts'
import { registerProbes } from './resources/probes.ts'
import { registerCost } from './resources/cost.ts'
import { registerExit } from './resources/exit.ts'
import { registerQuotes } from './resources/quotes.ts'
import { registerSession } from './resources/session.ts'
import { registerEventStream } from './resources/sse.ts'
import { registerTokens } from './resources/tokens.ts'
import { registerWebhooks } from './webhooks/webhooks.ts'

const MAX_HEADERS = 16 * 1024
const MAX_BODY = 16 * 1024
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
  const allowed = new AllowedMethods()
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
    if (isForPrograms(request) && cors.greet(request, reply)) return reply
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
  registerConsolePage(app, context.consoleFolder)
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

/** A URL that cannot be decoded reaches no route and no hook, so the credential is checked here. */
function answerUndecodable(context: HttpContext, request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', request.id)
  admit(context, request, reply).then(
    () => answer(request, reply, 400, 'the URL cannot be decoded; expected UTF-8, percent-encoded'),
    (failure: FastifyError) => answerError(context, failure, request, reply),
  )
}
