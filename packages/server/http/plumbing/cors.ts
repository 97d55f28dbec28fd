/**
 * Pages of other origins that an operator lists (`access.cors_origins`) may read with a bearer key, from a browser and
 * without cookies. A preflight is answered before anybody is asked for a credential: browsers send none with it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What a page may do besides plain reading: the batch and the session are POST. */
const METHODS = 'GET, POST'
const REQUEST_HEADERS =
  'Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Cg-Demo-Api-Key, X-Cg-Pro-Api-Key'
/** Headers of an answer that a page may read; all others are hidden from it. */
const EXPOSED = 'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Assay-Reason, X-Request-Id'
/** How long a browser may keep the answer to a preflight, in seconds. */
const KEPT_S = '600'

export class Cors {
  readonly #origins: ReadonlySet<string>

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins)
  }

  /** True when it was a preflight, which is answered now. */
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
