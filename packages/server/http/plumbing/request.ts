/** The raw parts of a request, before anything has been validated. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../../access/access.ts'
import { QuoteError, RequestError } from './apiError.ts'
import type { Connections } from './connections.ts'
import type { FaultOf } from './params.ts'

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
  }
  interface FastifyInstance {
    connections: Connections
  }
}

/** Parsed from the URL itself, because the framework's parser would merge repeated parameters. */
export const searchOf = (request: FastifyRequest): URLSearchParams =>
  new URLSearchParams(request.url.split('?')[1] ?? '')

export const pathOf = (request: FastifyRequest, name: string): string =>
  (request.params as Record<string, string>)[name] ?? ''

/** The form of a fault outside quotes, and inside them. */
export const malformed: FaultOf = ({ message }) => new RequestError(400, message)
export const malformedQuote: FaultOf = ({ kind, message }) =>
  new QuoteError(kind === 'address' ? 'INVALID_ADDRESS' : 'INVALID_PARAMS', message)

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends text that is already JSON. */
export const sendJson = (reply: FastifyReply, body: string | Buffer): FastifyReply =>
  reply.header('content-type', JSON_TYPE).send(body)
