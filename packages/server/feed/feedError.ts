/**
 * Failures of the feed, each with a code, whether the same call may succeed later, and the operator's name
 * of the endpoint at fault. A message never holds a URL: an address may carry a key.
 */

/** Every code, and whether a retry helps. */
const RETRYABLE = {
  /** Not an http, https, ws or wss URL. */
  ENDPOINT_ADDRESS: false,
  /** No connection, or it was lost before the answer was whole. */
  ENDPOINT_UNREACHABLE: true,
  /** No whole answer in time. */
  ENDPOINT_TIMEOUT: true,
  /** An HTTP status without a JSON-RPC answer in it. */
  ENDPOINT_STATUS: true,
  /** Asked to slow down. */
  ENDPOINT_LIMITED: true,
  /** More calls wait for this endpoint than it could answer in time. */
  ENDPOINT_BUSY: true,
  /** Another chain, or another chain's history. */
  ENDPOINT_IDENTITY: false,
  /** Its head is below what is already final, as in an initial sync. */
  ENDPOINT_BEHIND: true,
  /** Not JSON, not an answer to the call, or a field that is not what it should be. */
  ANSWER_MALFORMED: true,
  ANSWER_TOO_LARGE: true,
  RPC_ERROR: true,
  /** The endpoint does not have the method, or refuses it while it answers others. */
  METHOD_MISSING: false,
  /** The endpoint does not know the block, or not yet. */
  BLOCK_UNKNOWN: true,
  /** The answer contradicts the block's own hash, parent or receipts root. */
  BLOCK_REFUSED: true,
  /** No endpoint is there to be asked. */
  NO_ENDPOINT: true,
  FEED_CLOSED: false,
} as const satisfies Readonly<Record<string, boolean>>

export type FeedErrorCode = keyof typeof RETRYABLE

type FeedErrorFacts = {
  /** The code of the JSON-RPC error object. */
  readonly rpcCode?: number
  /** Its message, redacted. */
  readonly rpcMessage?: string
  /** Of an answer that is no JSON-RPC. */
  readonly httpStatus?: number
  /** What the endpoint asked us to wait. */
  readonly retryAfterMs?: number
  readonly retryable?: boolean
}

export class FeedError extends Error {
  override readonly name = 'FeedError'
  readonly code: FeedErrorCode
  readonly retryable: boolean
  /** The operator's name of the endpoint; null where no single one is meant. */
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
