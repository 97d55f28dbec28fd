/**
 * Calls this service from inside: a `fetch` through the whole HTTP API, with the caller's own credential and address,
 * but without a socket. The quota headers of the API are passed on to the caller.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const QUOTA = ['ratelimit-policy', 'ratelimit']
/** Headers that identify the origin of a request, and the caller's credential. */
const CARRIED = ['authorization', 'x-forwarded-for']

export function fetchInside(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { pathname, search } = new URL(new Request(input).url)
    const answer = await app.inject({
      method: init.method === 'POST' ? 'POST' : 'GET',
      url: `${pathname}${search}`,
      remoteAddress: request.raw.socket.remoteAddress ?? '127.0.0.1',
      headers: {
        ...Object.fromEntries(
          CARRIED.flatMap(name => {
            const value = request.headers[name]
            return value === undefined ? [] : [[name, value]]
          }),
        ),
        ...(typeof init.body === 'string' ? { 'content-type': 'application/json' } : {}),
      },
      ...(typeof init.body === 'string' ? { payload: init.body } : {}),
    })
    const headers = new Headers()
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value === undefined) continue
      headers.set(name, String(value))
      if (QUOTA.includes(name)) void reply.header(name, String(value))
    }
    return new Response(BODILESS.has(answer.statusCode) ? null : answer.body, {
      status: answer.statusCode,
      headers,
    })
  }
}

/** Statuses for which `Response` refuses a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])
