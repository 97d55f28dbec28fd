/** What a request is, by its path: the API, an operator's endpoint, the format of another vendor, an agent. */
import type { FastifyRequest } from 'fastify'
import { COMPAT } from './compat/vendor.ts'
import { MCP_PATH } from './mcp/route.ts'
import { isQuotePath } from './plumbing/apiError.ts'

/** The paths that an operator's monitoring requests. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])
export const EVENT_STREAM = '/v1/stream/sse'

/**
 * The path of a request by its matched route: the router decodes `/%761/chains` before it matches, so the text of the
 * URL is not enough. An unmatched path has only that text.
 */
export const pathFor = (request: FastifyRequest): string =>
  request.routeOptions.url ?? request.url.split('?')[0] ?? ''
export const isApi = (request: FastifyRequest): boolean =>
  isCompat(request) || pathFor(request).startsWith('/v1/')
export const isCompat = (request: FastifyRequest): boolean => pathFor(request).startsWith(COMPAT)
export const isMcp = (request: FastifyRequest): boolean => pathFor(request) === MCP_PATH
export const isAdmin = (request: FastifyRequest): boolean => pathFor(request).startsWith('/v1/admin/')
export const isQuote = (request: FastifyRequest): boolean => isQuotePath(pathFor(request))
/** Pages of other origins may call these; operators use our own pages. */
export const isForPrograms = (request: FastifyRequest): boolean =>
  (isApi(request) && !isAdmin(request)) || isMcp(request)
export const isWebhook = (path: string): boolean =>
  path === '/v1/webhooks' || path.startsWith('/v1/webhooks/')
