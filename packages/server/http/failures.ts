/** How a failure looks to its caller: status, headers and body, in the format of the endpoint. No stack trace leaves. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { StoreError } from '../store/storeError.ts'
import { ChainDown } from '../worker/chainService.ts'
import { failureBody, vendorOf } from './compat/vendor.ts'
import { isQuote, pathFor } from './paths.ts'
import type { AllowedMethods } from './plumbing/allowedMethods.ts'
import { Crowded, QuoteError, Refusal, RequestError, statusOf } from './plumbing/apiError.ts'
import type { HttpContext } from './plumbing/context.ts'

export function answerError(
  context: Pick<HttpContext, 'log'>,
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
export function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  message: string,
): FastifyReply {
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
export function answerUnknown(
  allowed: AllowedMethods,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
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
