/**
 * Lets pages of the origins an operator lists (`access.cors_origins`) read with a bearer key, without cookies. A
 * preflight is answered before authentication, because browsers send no credential with it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Methods beyond plain reading: the batch and the session are POST. */
const METHODS = 'GET, POST'
const REQUEST_HEADERS = [
  'Authorization, Content-Type, If-None-Match, Last-Event-ID',
  'X-Api-Key, X-Cg-Demo-Api-Key, X-Cg-Pro-Api-Key',
  // What clients of MCP send, in either revision.
  'MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id',
].join(', ')
/** Response headers that a page may read; all others are hidden from it. A gateway in front may add MCP sessions. */
const EXPOSED = 'ETag, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, X-Assay-Reason, X-Request-Id'
/** How long a browser may keep the answer to a preflight, in seconds. */
const KEPT_S = '600'

export class Cors {
  readonly #origins: ReadonlySet<string>

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins)
  }

  /** True for a preflight, which this call answers. */
  greet({ method, headers }: FastifyRequest, reply: FastifyReply): boolean {
    if (this.#origins.size === 0) return false
    void reply.header('vary', 'Origin')
    const { origin } = headers
    if (origin === undefined || !this.#origins.has(origin)) return false
    void reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED })
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
    void reply
      .code(204)
      .headers({
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': REQUEST_HEADERS,
        'access-control-max-age': KEPT_S,
      })
      .send()
    return true
  }
}
