/**
 * Who may make a request: its credential, its quota, a free connection, its scope, in this order. Published quotes are
 * admitted by `resources/hotQuote.ts` in the same order, from what this path has verified before.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { holdsKey } from '../access/apiKey.ts'
import { hasTwoCredentials, presentedIn } from '../access/credentials.ts'
import { vendorKey } from './compat/vendor.ts'
import { EVENT_STREAM, isAdmin, isApi, isCompat, isMcp, isWebhook, pathFor, PROBES } from './paths.ts'
import { Crowded, Refusal, RequestError } from './plumbing/apiError.ts'
import { charge } from './plumbing/charge.ts'
import type { HttpContext } from './plumbing/context.ts'
import { assertOwnPage } from './resources/session.ts'

type Needs = Pick<HttpContext, 'access' | 'addresses' | 'config' | 'failures' | 'limit'>

const MAX_URL = 8 * 1024

export const mayRead = (scopes: readonly string[]): boolean => scopes.includes('read')

export async function admit(context: Needs, request: FastifyRequest, reply: FastifyReply): Promise<void> {
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
function mayUse(
  context: Pick<HttpContext, 'addresses'>,
  scopes: readonly string[],
  request: FastifyRequest,
): boolean {
  const path = pathFor(request)
  if (path === '/v1/session') return mayRead(scopes) || scopes.includes('stream')
  if (isAdmin(request)) return mayOperate(context, scopes, request)
  if (path === EVENT_STREAM || isWebhook(path))
    return scopes.includes('stream') || (isWebhook(path) && mayOperate(context, scopes, request))
  return mayRead(scopes) || (path === '/v1/pools' && scopes.includes('stream'))
}

const mayOperate = (
  context: Pick<HttpContext, 'addresses'>,
  scopes: readonly string[],
  request: FastifyRequest,
): boolean => scopes.includes('admin') && context.addresses.isAllowed(request.raw)
