/**
 * The transport of an endpoint: one JSON-RPC connection, either a WebSocket or a series of HTTP requests. A failed
 * connection is dropped by its endpoint and never reused.
 */
import type { Address } from './address.ts'
import type { Answer, AnswerLimits } from '../answers/answerReader.ts'
import type { Expiry, PaceLimits } from './answerTimeLimit.ts'
import { FeedError } from '../feedError.ts'

export type Call = { readonly method: string; readonly params: readonly unknown[] }
/** The outcome of one call of a batch. */
export type Settled = { readonly result: unknown } | { readonly error: FeedError }

export type Connection = {
  /** Throws a FeedError, or the signal's reason when the caller gave up. */
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>
  /**
   * Several calls in one request; outcomes in the order of the calls. Throws when the answer as a whole does not fit
   * the batch. Null where batching saves nothing, as on an open socket.
   */
  readonly batch: ((calls: readonly Call[], signal: AbortSignal) => Promise<readonly Settled[]>) | null
  /** Subscribes to new heads; null when the endpoint cannot push. */
  readonly subscribe: ((onHead: (head: unknown) => void, signal: AbortSignal) => Promise<void>) | null
  /** Called once when the connection is lost, but not after `close`. */
  onLost: ((error: FeedError) => void) | null
  close(): void
}

export type ConnectionOptions = {
  readonly name: string
  readonly address: Address
  readonly limits: ConnectionLimits
  readonly onAnswer?: OnAnswer | undefined
}

/** Size of an answer, or the bytes read before it was abandoned; a batch is one answer. */
export type OnAnswer = (method: string, bytes: number) => void

export type ConnectionLimits = AnswerLimits & PaceLimits

const MEBIBYTE = 1024 * 1024

/** R-health-7. */
export const DEFAULT_LIMITS: ConnectionLimits = {
  deadlineMs: 10_000,
  bytesPerSecond: 256 * 1024,
  overMs: 5000,
  longestMs: 20 * 60_000,
  bodyBytes: 16 * MEBIBYTE,
  answerBytes: 256 * MEBIBYTE,
}

/** The limits of a chain, whose configuration bounds the size of answers. */
export const limitsOf = ({
  maxAnswerMib,
}: {
  readonly maxAnswerMib?: number | undefined
}): ConnectionLimits =>
  maxAnswerMib === undefined ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, answerBytes: maxAnswerMib * MEBIBYTE }

/** Method not found; method not supported (EIP-1474). */
const MISSING_CODES: ReadonlySet<number> = new Set([-32601, -32004])
/** Limit exceeded (EIP-1474), and the HTTP status that some providers use as a code. */
const LIMITED_CODES: ReadonlySet<number> = new Set([-32005, 429])
/** Wording that providers use under codes of their own; a false match costs a slower rate and a retry. */
const LIMITED_WORDS = /rate.?limit|too many requests|requests? per second|compute units per second/i

export function encodeCall(id: number, method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** The result of an answer that is known to belong to the call. */
export function resultOf(answer: Answer, { name, address }: ConnectionOptions, method: string): unknown {
  if (answer.error === undefined || answer.error === null) {
    if (answer.result !== undefined) return answer.result
    throw new FeedError('ANSWER_MALFORMED', name, `answered ${method} with neither result nor error`)
  }
  const { code, message } = answer.error as { readonly code?: unknown; readonly message?: unknown }
  const rpcCode = typeof code === 'number' ? code : 0
  const said = typeof message === 'string' ? address.redact(message) : 'no message'
  const kind = MISSING_CODES.has(rpcCode)
    ? 'METHOD_MISSING'
    : LIMITED_CODES.has(rpcCode) || LIMITED_WORDS.test(said)
      ? 'ENDPOINT_LIMITED'
      : 'RPC_ERROR'
  const facts = { rpcCode, rpcMessage: said }
  throw new FeedError(kind, name, `${method} failed with ${rpcCode}: ${said}`, facts)
}

export function timedOut({ name, limits }: ConnectionOptions, method: string, expiry: Expiry): FeedError {
  const why = {
    start: `had no complete response after ${limits.deadlineMs} ms`,
    pace: `had a response slower than ${limits.bytesPerSecond} bytes a second`,
    length: `had no complete response after ${limits.longestMs} ms`,
  }[expiry]
  return new FeedError('ENDPOINT_TIMEOUT', name, `${method} ${why}`)
}

export const tooLarge = ({ name }: ConnectionOptions, method: string, bytes: number): FeedError =>
  new FeedError('ANSWER_TOO_LARGE', name, `the answer to ${method} was larger than ${bytes} bytes`)
