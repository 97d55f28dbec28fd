/**
 * Failures of the feed, each with a code, whether the same call may succeed later, and the configured name of the
 * endpoint at fault. A message never contains a URL, because an address may carry a key.
 */

/** Every code, and whether a retry may help. */
const RETRYABLE = {
  /** Not an http, https, ws or wss URL. */
  ENDPOINT_ADDRESS: false,
  /** No connection, or the connection was lost before the answer was complete. */
  ENDPOINT_UNREACHABLE: true,
  /** The answer was not complete in time. */
  ENDPOINT_TIMEOUT: true,
  /** An HTTP error status without a JSON-RPC answer in the body. */
  ENDPOINT_STATUS: true,
  /** The endpoint asked us to slow down. */
  ENDPOINT_LIMITED: true,
  /** More calls are queued for this endpoint than it could answer in time. */
  ENDPOINT_BUSY: true,
  /** The endpoint serves another chain, or another history of this chain. */
  ENDPOINT_IDENTITY: false,
  /** The endpoint's head is below the final block, as during an initial sync. */
  ENDPOINT_BEHIND: true,
  /** Not JSON, not an answer to the call, or a field of the wrong form. */
  ANSWER_MALFORMED: true,
  ANSWER_TOO_LARGE: true,
  RPC_ERROR: true,
  /** The endpoint does not support the method, or refuses it while it answers others. */
  METHOD_MISSING: false,
  /** The endpoint does not know the block, or does not know it yet. */
  BLOCK_UNKNOWN: true,
  /** The answer contradicts the block's own hash, parent or receipts root. */
  BLOCK_REFUSED: true,
  /** No endpoint is available. */
  NO_ENDPOINT: true,
  FEED_CLOSED: false,
} as const satisfies Readonly<Record<string, boolean>>

export type FeedErrorCode = keyof typeof RETRYABLE

type FeedErrorFacts = {
  /** The code of the JSON-RPC error object. */
  readonly rpcCode?: number
  /** The message of the JSON-RPC error object, redacted. */
  readonly rpcMessage?: string
  /** HTTP status of an answer that is not JSON-RPC. */
  readonly httpStatus?: number
  /** How long the endpoint asked us to wait. */
  readonly retryAfterMs?: number
  readonly retryable?: boolean
}

export class FeedError extends Error {
  override readonly name = 'FeedError'
  readonly code: FeedErrorCode
  readonly retryable: boolean
  /** The configured name of the endpoint; null when no single endpoint is at fault. */
  readonly endpoint: string | null
  readonly rpcCode: number | null
  readonly rpcMessage: string | null
  readonly httpStatus: number | null
  readonly retryAfterMs: number | null

  constructor(code: FeedErrorCode, endpoint: string | null, sentence: string, facts: FeedErrorFacts = {}) {
    super(endpoint === null ? sentence : `endpoint ${endpoint}: ${sentence}`)
    this.code = code
    this.endpoint = endpoint
    this.retryable = facts.retryable ?? RETRYABLE[code]
    this.rpcCode = facts.rpcCode ?? null
    this.rpcMessage = facts.rpcMessage ?? null
    this.httpStatus = facts.httpStatus ?? null
    this.retryAfterMs = facts.retryAfterMs ?? null
  }
}

export const isFeedError = (error: unknown, ...codes: readonly FeedErrorCode[]): error is FeedError =>
  error instanceof FeedError && (codes.length === 0 || codes.includes(error.code))
