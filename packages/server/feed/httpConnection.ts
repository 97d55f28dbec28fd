/**
 * JSON-RPC over HTTP. The deadline and the size limit hold to the last byte of the body, so neither a dripped nor an
 * endless answer keeps a call.
 */
import {
  type Connection,
  type ConnectionOptions,
  encodeCall,
  parseAnswer,
  resultOf,
  timedOut,
  tooLarge,
} from './connection.ts'
import { startDeadline } from './deadline.ts'
import { FeedError, isFeedError } from './feedError.ts'
import { BodyTooLarge, post, type PostAnswer } from './httpPost.ts'

/** A `Retry-After` beyond this is not waited for whole: the endpoint is asked again sooner. */
const MAX_RETRY_AFTER_MS = 60_000

export function openHttp(options: ConnectionOptions): Connection {
  let lastId = 0
  return {
    subscribe: null,
    onLost: null,
    close: () => {},
    call: (method, params, signal) => call(options, ++lastId, method, params, signal),
  }
}

async function call(
  options: ConnectionOptions,
  id: number,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const { name, address, limits } = options
  const deadline = startDeadline(signal, limits.deadlineMs)
  try {
    const headers = {
      'content-type': 'application/json',
      ...(address.authorization === null ? {} : { authorization: address.authorization }),
    }
    const body = encodeCall(id, method, params)
    const answer = await post(address.dial(), headers, body, limits.bodyBytes, deadline.signal)
    return decodeResponse(options, answer, id, method)
  } catch (error) {
    if (isFeedError(error)) throw error
    if (error instanceof BodyTooLarge) throw tooLarge(options)
    signal.throwIfAborted()
    if (deadline.isExpired()) throw timedOut(options, method)
    throw new FeedError('ENDPOINT_UNREACHABLE', name, `${method} failed: ${failureOf(error)}`)
  } finally {
    deadline.release()
  }
}

function decodeResponse(
  options: ConnectionOptions,
  { status, headers, body }: PostAnswer,
  id: number,
  method: string,
): unknown {
  const { name } = options
  if (status === 429)
    throw new FeedError('ENDPOINT_LIMITED', name, 'asked us to slow down (HTTP 429)', retryAfter(headers))
  // It could lead the key in the address to another host.
  if (status >= 300 && status < 400)
    throw new FeedError('ENDPOINT_UNREACHABLE', name, `${method} was redirected (HTTP ${status})`)
  // Some nodes give a JSON-RPC error an HTTP error status; without one in the body, the status is all there is.
  const answer = status >= 200 && status < 300 ? parseAnswer(body, name) : parseErrorBody(body, name)
  if (answer === null)
    throw new FeedError('ENDPOINT_STATUS', name, `${method} had HTTP status ${status}`, retryAfter(headers))
  if (answer.id !== id && !(answer.id === null && answer.error !== undefined))
    throw new FeedError('ANSWER_MALFORMED', name, `the answer to ${method} carries another call's id`)
  return resultOf(answer, options, method)
}

function parseErrorBody(body: Buffer, name: string): ReturnType<typeof parseAnswer> | null {
  try {
    const answer = parseAnswer(body, name)
    return typeof answer.error === 'object' && answer.id !== undefined ? answer : null
  } catch {
    return null
  }
}

/** In seconds, or a date; that one is taken from the answer's own, so that no two clocks are compared. */
function retryAfter(headers: PostAnswer['headers']): { readonly retryAfterMs?: number } {
  const value = headers['retry-after'] ?? ''
  const waitMs = /^\d+$/.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.parse(headers.date ?? '')
  return Number.isNaN(waitMs) ? {} : { retryAfterMs: Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS) }
}

/** The platform's code alone: its message names the host. */
function failureOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : 'the connection failed'
}
