/**
 * POST /mcp: the Model Context Protocol over streamable HTTP, without sessions and without streams: one message, one
 * JSON answer. A tool calls this service as its caller would, with the same key, so it cannot see or spend anything
 * else.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createClient } from '@assay/sdk'
import { isOwnOrigin } from '../../access/credentials.ts'
import { Refusal, RequestError } from '../plumbing/apiError.ts'
import { charge } from '../plumbing/charge.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { JSON_TYPE, malformed, searchOf } from '../plumbing/request.ts'
import { answerOf, type Door, isRefusal } from './answer.ts'
import { agreedRevision } from './headers.ts'
import { fetchInside } from './inside.ts'
import { CODE, errorText, idOf, messageIn, ProtocolError, resultText } from './message.ts'
import type { Revision } from './revision.ts'

type Needs = Pick<HttpContext, 'config' | 'limit'>

export const MCP_PATH = '/mcp'
const MAX_BODY = 16 * 1024

export function registerMcp(app: FastifyInstance, context: Needs): void {
  if (!context.config.mcp.enabled) return
  app.post(MCP_PATH, { bodyLimit: MAX_BODY }, async (request, reply) => {
    new Params(searchOf(request), [], malformed)
    assertNoForeignPage(context, request)
    assertTypes(request)
    const door = doorOf(app, context, request, reply)
    const parsed = parse(request)
    if (parsed === BROKEN) {
      await door.pay(1)
      return send(reply, 400, errorText(null, new ProtocolError(CODE.parse, 'Parse error: no JSON in UTF-8')))
    }
    return answered(parsed, request, reply, door)
  })
}

async function answered(
  parsed: unknown,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  door: Door,
): Promise<FastifyReply> {
  let revision: Revision | null = null
  try {
    const message = messageIn(parsed)
    if (message.kind === 'response') return await accepted(reply, door)
    revision = agreedRevision(headers, message)
    if (message.kind === 'notification') return await accepted(reply, door)
    return send(reply, 200, resultText(message.id, await answerOf(message, revision, door)))
  } catch (failure) {
    if (isRefusal(failure)) throw new Refusal(failure.status as 401 | 403 | 429, failure.retryAfterMs)
    if (!(failure instanceof ProtocolError)) throw failure
    // Nothing has been charged before the revision is agreed.
    if (revision === null) await door.pay(1)
    return send(reply, statusOf(failure, revision), errorText(idOf(parsed), failure))
  }
}

/** A malformed message is 400; for a well-formed one with an unknown method, the newer revision requires 404. */
function statusOf({ code }: ProtocolError, revision: Revision | null): number {
  if (revision === null) return 400
  return code === CODE.method && revision === 'stateless' ? 404 : 200
}

async function accepted(reply: FastifyReply, door: Door): Promise<FastifyReply> {
  await door.pay(1)
  return reply.code(202).send()
}

const send = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  reply.code(status).header('content-type', JSON_TYPE).send(text)

function doorOf(app: FastifyInstance, context: Needs, request: FastifyRequest, reply: FastifyReply): Door {
  return {
    minScore: context.config.mcp.minScore,
    client: createClient({ baseUrl: 'http://inside', fetch: fetchInside(app, request, reply) }),
    pay: units => charge(context, request, reply, units),
  }
}

/** Refuses pages led here by a host name of their own (DNS rebinding): browsers send Origin with every POST. */
function assertNoForeignPage({ config }: Needs, { raw }: FastifyRequest): void {
  const { origin } = raw.headers
  if (origin === undefined || isOwnOrigin(raw, config.listen.publicOrigin)) return
  if (!config.access.corsOrigins.includes(origin)) throw new Refusal(403)
}

const JSON_MEDIA = /^application\/json(?:\s*;.*)?$/i
const TAKES_JSON = /(?:^|,)\s*(?:application\/json|application\/\*|\*\/\*)\s*(?:;|,|$)/i

function assertTypes({ headers }: FastifyRequest): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity', accept = '*/*' } = headers
  if (!JSON_MEDIA.test(type) || encoding !== 'identity')
    throw new RequestError(415, 'the body is not application/json; expected one JSON-RPC message')
  if (!TAKES_JSON.test(accept))
    throw new RequestError(406, 'Accept excludes application/json, the only type of response')
}

const BROKEN = Symbol('not JSON')

function parse({ body }: FastifyRequest): unknown {
  if (!Buffer.isBuffer(body)) return BROKEN
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch {
    return BROKEN
  }
}
