/** POST, GET and DELETE /v1/session: a browser session, and a cursor of the stream to resume from. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../../access/access.ts'
import { cookieName, isOfForeignPage, isOwnOrigin, isSecure } from '../../access/credentials.ts'
import type { SessionRow } from '../../store/port.ts'
import { SCHEMA_VERSION } from '@assay/sdk/wire'
import { CURSOR_LIFETIME_MS, sealCursor } from '../../stream/cursor.ts'
import { Refusal, RequestError } from '../plumbing/apiError.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, searchOf } from '../plumbing/request.ts'

type Needs = Pick<
  HttpContext,
  'access' | 'addresses' | 'chains' | 'clock' | 'config' | 'cursorSecret' | 'feeds' | 'store'
>

export function registerSession(app: FastifyInstance, context: Needs): void {
  app.post('/v1/session', async (request, reply) => {
    const params = new Params(searchOf(request), ['chain_id', 'snapshot_sequence'], malformed)
    const chainId = params.integer('chain_id', 0, Number.MAX_SAFE_INTEGER)
    const sequence = params.integer('snapshot_sequence', 0, Number.MAX_SAFE_INTEGER)
    if (sequence !== null && chainId === null)
      throw new RequestError(400, 'snapshot_sequence needs chain_id: a cursor is chain-wide')
    if (chainId !== null) servedChain(context, chainId)
    const bounds = await context.store.readBounds()
    if (sequence !== null && (sequence > bounds.head || Math.floor(sequence / 2 ** 40) !== bounds.epoch))
      throw new RequestError(
        400,
        `snapshot_sequence ${sequence} is not of this log; its head is ${bounds.head}`,
      )
    const session = await sessionFor(context, request, reply)
    const issuedAtMs = context.clock.nowMs()
    const cursor =
      chainId === null
        ? null
        : sealCursor(context.cursorSecret, {
            epoch: bounds.epoch,
            chainId,
            sequence: sequence ?? bounds.head,
            schemaVersion: SCHEMA_VERSION,
            issuedAtMs,
          })
    return {
      session: { expires_at_ms: session.expiresAtMs },
      resume_cursor: cursor,
      cursor_expires_at_ms: cursor === null ? null : issuedAtMs + CURSOR_LIFETIME_MS,
      schema_version: SCHEMA_VERSION,
      stream: { oldest_sequence: bounds.oldest, head_sequence: bounds.head },
      ...(chainId === null ? {} : { feed: context.feeds.feed(chainId, issuedAtMs) }),
    }
  })

  app.get('/v1/session', async request => {
    new Params(searchOf(request), [], malformed)
    const { session, scopes, consumer } = principalOf(request)
    if (session === null)
      throw new RequestError(404, 'this request has no session; POST /v1/session creates one')
    return { session: { expires_at_ms: session.expiresAtMs }, scopes, consumer }
  })

  app.delete('/v1/session', async (request, reply) => {
    new Params(searchOf(request), [], malformed)
    const { session } = principalOf(request)
    if (session === null) throw new RequestError(404, 'this request has no session to end')
    await context.access.closeSession(session)
    return reply
      .code(204)
      .header('set-cookie', `${cookieName(context.config.listen.publicOrigin)}=; ${ATTRIBUTES}; Max-Age=0`)
      .send()
  })
}

/** With a session cookie the session and its expiry are kept; a bearer gets a new one. */
async function sessionFor(context: Needs, request: FastifyRequest, reply: FastifyReply): Promise<SessionRow> {
  const principal = principalOf(request)
  if (principal.session !== null) return principal.session
  assertCookieIsSafe(context, request)
  const opened = await context.access.openSession(principal)
  void reply.header(
    'set-cookie',
    `${cookieName(context.config.listen.publicOrigin)}=${opened.id}; ${ATTRIBUTES}`,
  )
  return opened.session
}

/** A cookie over plain http is allowed only on this machine; elsewhere the operator must configure our origin. */
function assertCookieIsSafe(
  { config, addresses }: Pick<HttpContext, 'addresses' | 'config'>,
  request: FastifyRequest,
): void {
  if (isSecure(config.listen.publicOrigin)) return
  const { address, isClaimed } = addresses.of(request.raw)
  if (isClaimed || (address !== '127.0.0.1' && address !== '::1'))
    throw new RequestError(
      400,
      'sessions over plain http are for this machine only; set listen.public_origin to the https origin of this service',
    )
}

export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Refusal(401)
  return request.principal
}

/** Browsers treat loopback as secure, so `Secure` works there too. */
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict; Secure'

/**
 * A request with a cookie must come from our own pages: one that changes state needs our own Origin, and for any other
 * the browser must not report a foreign page.
 */
export function assertOwnPage({ config }: Pick<HttpContext, 'config'>, request: FastifyRequest): void {
  if (request.principal === null || request.principal.session === null) return
  if (isOfForeignPage(request.raw)) throw new Refusal(403)
  if (request.method === 'GET' || request.method === 'HEAD') return
  if (!isOwnOrigin(request.raw, config.listen.publicOrigin)) throw new Refusal(403)
}
