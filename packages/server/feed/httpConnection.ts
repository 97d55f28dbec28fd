/**
 * JSON-RPC over HTTP. Sockets are kept alive by the platform's own `fetch`; the deadline and the size limit
 * hold to the last byte of the body, so neither a dripped nor an endless answer keeps a call.
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
    const response = await fetch(address.dial(), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(address.authorization === null ? {} : { authorization: address.authorization }),
      },
      body: encodeCall(id, method, params),
      // A redirect could lead the key in the address to another host.
      redirect: 'error',
      signal: deadline.signal,
    })
    return await decodeResponse(options, response, id, method)
  } catch (error) {
    if (isFeedError(error)) throw error
    signal.throwIfAborted()
    if (deadline.isExpired()) throw timedOut(options, method)
    throw new FeedError('ENDPOINT_UNREACHABLE', name, `${method} failed: ${failureOf(error)}`)
  } finally {
    deadline.release()
  }
}

async function decodeResponse(
  options: ConnectionOptions,
  response: Response,
  id: number,
  method: string,
): Promise<unknown> {
  const { name } = options
  const body = await readBody(options, response)
  if (response.status === 429)
    throw new FeedError('ENDPOINT_LIMITED', name, 'asked us to slow down (HTTP 429)', retryAfter(response))
  // Some nodes give a JSON-RPC error an HTTP error status; without one in the body, the status is all there is.
  const answer = response.ok ? parseAnswer(body, name) : parseErrorBody(body, name)
  if (answer === null)
    throw new FeedError(
      'ENDPOINT_STATUS',
      name,
      `${method} had HTTP status ${response.status}`,
      retryAfter(response),
    )
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

async function readBody(options: ConnectionOptions, response: Response): Promise<Buffer> {
  const { bodyBytes } = options.limits
  if (Number(response.headers.get('content-length') ?? 0) > bodyBytes) {
    await response.body?.cancel()
    throw tooLarge(options)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the body and with it the socket.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > bodyBytes) throw tooLarge(options)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/** In seconds, or a date; that one is taken from the answer's own, so that no two clocks are compared. */
function retryAfter({ headers }: Response): { readonly retryAfterMs?: number } {
  const value = headers.get('retry-after') ?? ''
  const waitMs = /^\d+$/.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.parse(headers.get('date') ?? '')
  return Number.isNaN(waitMs) ? {} : { retryAfterMs: Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS) }
}

/** The platform's code alone: its message names the host. */
function failureOf(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  return typeof cause?.code === 'string' ? cause.code : 'the connection failed'
}
