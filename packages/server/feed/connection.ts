/**
 * What an endpoint talks through: one JSON-RPC connection, whether it is a WebSocket or a run of HTTP
 * requests. A connection that fails is dropped by its endpoint and never used again.
 */
import { scanAnswer } from './answerScanner.ts'
import { FeedError } from './feedError.ts'
import type { Address } from './address.ts'

export type Connection = {
  /** Throws a FeedError, or the signal's reason when the caller gave up. */
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>
  /** Asks for new heads; null where the other side cannot push. */
  readonly subscribe: ((onHead: (head: unknown) => void, signal: AbortSignal) => Promise<void>) | null
  /** Called once when the other side is gone, not after `close`. */
  onLost: ((error: FeedError) => void) | null
  close(): void
}

export type ConnectionOptions = {
  readonly name: string
  readonly address: Address
  readonly limits: ConnectionLimits
}

export type ConnectionLimits = {
  /** From the request's first byte to the answer's last. */
  readonly deadlineMs: number
  /** Counted while the answer arrives, after decompression. */
  readonly bodyBytes: number
}

/** Contract §8. */
export const DEFAULT_LIMITS: ConnectionLimits = { deadlineMs: 10_000, bodyBytes: 16 * 1024 * 1024 }

/** Method not found; method not supported (EIP-1474). */
const MISSING_CODES: ReadonlySet<number> = new Set([-32601, -32004])
/** Limit exceeded (EIP-1474), and the HTTP status some providers put in its place. */
const LIMITED_CODES: ReadonlySet<number> = new Set([-32005, 429])

type Answer = { readonly id?: unknown; readonly result?: unknown; readonly error?: unknown }

export function encodeCall(id: number, method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** The object in an answer; anything else is the endpoint's fault. Lists of logs and receipts come as entries where they can. */
export function parseAnswer(bytes: Buffer, name: string): Answer & Readonly<Record<string, unknown>> {
  const scanned = scanAnswer(bytes)
  if (scanned !== null) return scanned
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new FeedError('ANSWER_MALFORMED', name, 'answered with something that is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FeedError('ANSWER_MALFORMED', name, 'answered with JSON that is no JSON-RPC object')
  return value as Answer & Readonly<Record<string, unknown>>
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
    : LIMITED_CODES.has(rpcCode)
      ? 'ENDPOINT_LIMITED'
      : 'RPC_ERROR'
  const facts = { rpcCode, rpcMessage: said }
  throw new FeedError(kind, name, `${method} failed with ${rpcCode}: ${said}`, facts)
}

export const timedOut = ({ name, limits }: ConnectionOptions, method: string): FeedError =>
  new FeedError('ENDPOINT_TIMEOUT', name, `${method} had no whole answer after ${limits.deadlineMs} ms`)

export const tooLarge = ({ name, limits }: ConnectionOptions): FeedError =>
  new FeedError('ANSWER_TOO_LARGE', name, `an answer was larger than ${limits.bodyBytes} bytes`)
