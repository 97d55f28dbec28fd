/**
 * GET /v1/stream/sse: the stream for clients without WebSocket, with the same records and rules. Each event's id is a
 * cursor of the same request, so that a browser which reconnects continues where it stopped.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type ResetReason, SCHEMA_VERSION } from '@assay/sdk/wire'
import type { Principal } from '../../access/access.ts'
import { DEFAULT_LIMITS } from '../../access/limits.ts'
import { epochOf } from '../../store/epoch.ts'
import type { LogRecord } from '../../store/port.ts'
import { Batches } from '../../stream/batches.ts'
import type { Framing } from '../../stream/frames.ts'
import { type Cursor, filterDigest, isOfWholeChain, sealCursor } from '../../stream/cursor.ts'
import { parseSubscribe, type Subscription } from '../../stream/filter.ts'
import { resetMessage, restartNotice, REVALIDATE_MS, startOf, wantedBy } from '../../stream/streamStart.ts'
import { Subscriber } from '../../stream/subscriber.ts'
import { undrained } from '../../stream/undrained.ts'
import { Refusal, RequestError } from '../plumbing/apiError.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, searchOf } from '../plumbing/request.ts'
import { principalOf } from './session.ts'

type Needs = Pick<HttpContext, 'access' | 'chains' | 'clock' | 'cursorSecret' | 'hub' | 'roster' | 'store'>

/** A proxy closes a connection that is silent for a minute. */
const PING_MS = 15_000
const RETRY_MS = 1000

type Open = { readonly principal: Principal; readonly subscriber: Subscriber; readonly ping: () => void }

export function registerEventStream(app: FastifyInstance, context: Needs): void {
  const { access, clock, cursorSecret, roster } = context
  const open = new Set<Open>()
  const framingOf = (placeAt: (record: LogRecord) => Pick<Cursor, 'chainId' | 'filter'>): Framing => ({
    head: record => Buffer.from(`id: ${idOf(record, placeAt(record))}\nevent: ${record.type}\ndata: `),
    tail: Buffer.from('\n\n'),
  })
  /** For one whole chain, whatever the types filter: framed once for all of them. */
  const ofChain = framingOf(({ chainId }) => ({ chainId }))
  const batches = new Batches(subscription => {
    if (isOfWholeChain(wantedBy(subscription))) return ofChain
    const filter = filterDigest(subscription)
    return framingOf(() => ({ chainId: 0, filter }))
  })
  const idOf = ({ sequence }: LogRecord, place: Pick<Cursor, 'chainId' | 'filter'>) =>
    sealCursor(cursorSecret, {
      epoch: epochOf(sequence),
      ...place,
      sequence,
      schemaVersion: SCHEMA_VERSION,
      issuedAtMs: clock.nowMs(),
    })
  const timers = [
    setInterval(() => {
      for (const { ping } of open) ping()
    }, PING_MS),
    setInterval(() => {
      for (const each of open)
        access
          .isValid(each.principal)
          .then(isValid => {
            if (!isValid) each.subscriber.close(1008, 'the credential was revoked or has expired')
          })
          .catch(() => undefined)
    }, REVALIDATE_MS),
  ]
  for (const timer of timers) timer.unref()
  app.addHook('preClose', async () => {
    for (const timer of timers) clearInterval(timer)
    for (const { subscriber } of open) subscriber.close(1012, restartNotice())
  })

  app.get('/v1/stream/sse', async (request, reply) => {
    const subscription = subscriptionIn(context, searchOf(request), request.headers['last-event-id'])
    const principal = principalOf(request)
    const { streamConnections } = principal.limits ?? DEFAULT_LIMITS
    const hasRoom = await roster.hasRoom(principal.consumer, streamConnections)
    if (!hasRoom || roster.countOf(principal.consumer) >= streamConnections) throw new Refusal(429, 1000)
    const herdMs = roster.admit()
    if (herdMs !== null) return unavailable(reply, herdMs, 'too many clients are reconnecting at once')
    // Counted from here on, because checking a cursor takes time, and a burst of clients would pass unnoticed.
    const leave = roster.enter(principal.consumer)
    const { raw } = reply
    raw.once('close', leave)
    if (raw.destroyed) leave()
    const start = await startOf(context, subscription, { ofFilters: true })
    // Closed while its cursor was checked: its end has been reported already.
    if (raw.destroyed) return reply.hijack()
    if (start.kind === 'BEHIND') return unavailable(reply, 1000, 'this node is behind the log')
    reply.hijack()
    // The reply already has the common headers: the request's id and the quota.
    raw.writeHead(200, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    raw.on('error', () => raw.destroy())
    raw.write(`retry: ${RETRY_MS}\n\n`)
    // An empty id clears the browser's last one: it must not return with the refused cursor.
    const reset = (reason: ResetReason) =>
      void raw.end(`id\nevent: RESET_REQUIRED\ndata: ${resetMessage(reason, clock.nowMs())}\n\n`)
    if (start.kind === 'RESET') {
      reset(start.reason)
      return reply
    }
    const sink = {
      write(bytes: Buffer, done: () => void) {
        raw.write(bytes, done)
        return false
      },
      buffered: () => raw.writableLength,
      undrained: () => undrained(raw.socket),
      close: (code: number, reason: string) => raw.end(`: ${code} ${reason}\n\n`),
      reset,
      destroy: () => void raw.destroy(),
    }
    const subscriber = new Subscriber(sink, subscription, start.after, start.isReplaying, {
      ...context,
      batches,
    })
    roster.note(subscriber)
    const entry = { principal, subscriber, ping: () => void raw.write(': ping\n\n') }
    open.add(entry)
    raw.once('close', () => {
      subscriber.stop()
      open.delete(entry)
    })
    return reply
  })
}

function unavailable(reply: FastifyReply, waitMs: number, error: string): FastifyReply {
  return reply
    .code(503)
    .header('retry-after', Math.max(1, Math.ceil(waitMs / 1000)))
    .send({ error: `${error}; try again later` })
}

/** The subscribe frame as a query: the same lists, the same rules, the same faults. */
function subscriptionIn(
  context: Pick<HttpContext, 'chains'>,
  search: URLSearchParams,
  lastEventId: string | readonly string[] | undefined,
): Subscription {
  const params = new Params(search, ['chain_ids', 'pool_ids', 'token_ids', 'types', 'cursor'], malformed)
  const list = (name: string): string[] => {
    const text = params.text(name)
    return text === null || text === '' ? [] : text.split(',')
  }
  const cursor = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : params.text('cursor')
  const filter = {
    chain_ids: list('chain_ids').map(each => (/^[1-9][0-9]{0,15}$/.test(each) ? Number(each) : each)),
    pool_ids: list('pool_ids'),
    token_ids: list('token_ids'),
    types: list('types'),
  }
  // Check the form first: which chains are served is a separate check, with an answer of its own.
  const named = new Set(filter.chain_ids.filter(each => typeof each === 'number'))
  const subscription = parseSubscribe(JSON.stringify({ filter, resume_cursor: cursor || null }), named)
  if ('fault' in subscription) throw new RequestError(400, subscription.fault.replace(/^filter\./, ''))
  for (const chainId of subscription.chainIds) servedChain(context, chainId)
  return subscription
}
