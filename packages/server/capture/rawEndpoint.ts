/**
 * An endpoint that returns the text of each result unparsed, over HTTP or a WebSocket. Errors contain the endpoint's
 * name, never its address.
 */
import { WebSocket } from 'ws'
import { type Address, parseAddress } from '../feed/transport/address.ts'
import { encodeCall } from '../feed/transport/connection.ts'
import { FeedError } from '../feed/feedError.ts'
import type { ChainConfig } from '../config/config.ts'
import { rawResult } from './rawResult.ts'

export type RawEndpoint = {
  readonly name: string
  /** The text of the result. Throws a FeedError: RPC_ERROR when the endpoint refuses the call. */
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<string>
  close(): void
}

/** Per answer, up to its last byte: receipts of a large block take long on a slow line. */
const DEADLINE_MS = 120_000
/** The default limit of the service (R-health-7). */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024

export function openRaw({ name, url }: ChainConfig['endpoints'][number]): RawEndpoint {
  const address = parseAddress(name, url)
  const exchange = address.kind === 'http' ? overHttp(name, address) : overWebSocket(name, address)
  let lastId = 0
  return {
    name,
    call: async (method, params, signal) => {
      const limit = AbortSignal.timeout(DEADLINE_MS)
      try {
        const answer = await exchange.send(
          encodeCall(++lastId, method, params),
          AbortSignal.any([signal, limit]),
        )
        return resultIn(answer, name, address, method)
      } catch (error) {
        if (error instanceof FeedError) throw error
        signal.throwIfAborted()
        if (limit.aborted)
          throw new FeedError(
            'ENDPOINT_TIMEOUT',
            name,
            `${method} had no complete response after ${DEADLINE_MS} ms`,
          )
        throw new FeedError('ENDPOINT_UNREACHABLE', name, `${method} failed: ${codeOf(error)}`)
      }
    },
    close: () => exchange.close(),
  }
}

function resultIn(text: string, name: string, address: Address, method: string): string {
  let answer: { readonly error?: { readonly code?: unknown; readonly message?: unknown } | null }
  try {
    answer = JSON.parse(text)
  } catch {
    throw new FeedError('ANSWER_MALFORMED', name, `answered ${method} with something that is not JSON`)
  }
  if (answer?.error !== undefined && answer.error !== null) {
    const { code, message } = answer.error
    const said = typeof message === 'string' ? address.redact(message) : 'no message'
    throw new FeedError('RPC_ERROR', name, `${method} failed with ${Number(code)}: ${said}`)
  }
  const result = rawResult(text)
  if (result === null)
    throw new FeedError('ANSWER_MALFORMED', name, `answered ${method} with neither result nor error`)
  return result
}

type Exchange = { send(body: string, signal: AbortSignal): Promise<string>; close(): void }

function overHttp(name: string, address: Address): Exchange {
  const headers = {
    'content-type': 'application/json',
    ...(address.authorization === null ? {} : { authorization: address.authorization }),
  }
  return {
    close: () => {},
    send: async (body, signal) => {
      const response = await fetch(address.dial(), {
        method: 'POST',
        headers,
        body,
        signal,
        redirect: 'error',
      })
      const text = await textOf(response, name)
      if (response.status === 429) {
        const seconds = Number(response.headers.get('retry-after'))
        const facts = seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}
        throw new FeedError('ENDPOINT_LIMITED', name, 'limits our rate (HTTP 429)', facts)
      }
      // A JSON-RPC error may come with an HTTP error status.
      if (!response.ok && !text.trimStart().startsWith('{')) {
        const code = response.status < 500 ? 'RPC_ERROR' : 'ENDPOINT_STATUS'
        throw new FeedError(code, name, `answered with HTTP status ${response.status}`)
      }
      return text
    },
  }
}

async function textOf(response: Response, name: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES)
      throw new FeedError('ANSWER_TOO_LARGE', name, `an answer was larger than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size).toString('utf8')
}

/** One call at a time, so the next message is its answer. */
function overWebSocket(name: string, address: Address): Exchange {
  let socket: WebSocket | null = null
  const opened = (signal: AbortSignal): Promise<WebSocket> => {
    if (socket?.readyState === WebSocket.OPEN) return Promise.resolve(socket)
    const next = new WebSocket(address.dial(), { maxPayload: MAX_ANSWER_BYTES })
    socket = next
    return settled(signal, (resolve, reject) => {
      next.once('open', () => resolve(next))
      next.once('error', reject)
    })
  }
  return {
    close: () => socket?.terminate(),
    send: async (body, signal) => {
      const open = await opened(signal)
      return settled<string>(signal, (resolve, reject) => {
        open.once('message', (data: Buffer) => resolve(data.toString('utf8')))
        open.once('error', reject)
        open.once('close', () =>
          reject(new FeedError('ENDPOINT_UNREACHABLE', name, 'the connection was lost')),
        )
        open.send(body)
      }).finally(() => open.removeAllListeners())
    },
  }
}

function settled<Result>(
  signal: AbortSignal,
  start: (resolve: (result: Result) => void, reject: (error: Error) => void) => void,
): Promise<Result> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    start(resolve, reject)
  })
}

/** Uses only the platform's error code, because its message contains the host. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } }
  const detail = cause?.code ?? code
  return typeof detail === 'string' ? detail : 'the connection failed'
}
