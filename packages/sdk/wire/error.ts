/**
 * The one catalogue of errors: HTTP errors with their statuses, reasons of a stream reset, and close codes. Whether a
 * retry can help is defined here and nowhere else.
 *
 * A quote error has a code in its body. Other errors have one sentence, and 401, 403 and 429 have no body: their
 * codes exist for users of this SDK, and follow from the status alone.
 */
import { known, nullable, object, string } from './schema.ts'

type HttpEntry = { readonly status: number; readonly retryable: boolean; readonly about: string }

/** Codes of GET /v1/quote/… and POST /v1/quote/tokens (R-error-2). */
export const QUOTE_ERRORS = {
  INVALID_PARAMS: {
    status: 400,
    retryable: false,
    about: 'A parameter is unknown, repeated or out of range.',
  },
  INVALID_ADDRESS: {
    status: 400,
    retryable: false,
    about: 'Not an address, or mixed case with a wrong checksum.',
  },
  UNSUPPORTED_CHAIN: { status: 404, retryable: false, about: 'The service does not serve this chain.' },
  NOT_A_POOL: { status: 404, retryable: false, about: 'There is no pool of a listed factory here.' },
  TOKEN_UNKNOWN: { status: 404, retryable: false, about: 'There is no token at this address.' },
  NO_ROUTE: {
    status: 422,
    retryable: false,
    about: 'No route within the restrictions of the request leads to a stable.',
  },
  NOT_SUPPORTED: { status: 422, retryable: false, about: 'A pool of a factory that is not listed.' },
  RPC_UNAVAILABLE: { status: 503, retryable: true, about: 'No chain node could answer.' },
  BUDGET_EXCEEDED: { status: 503, retryable: true, about: 'The budget for on-demand work is exhausted.' },
  DEADLINE_EXCEEDED: { status: 504, retryable: true, about: 'Not done by the requested deadline.' },
} as const satisfies Readonly<Record<string, HttpEntry>>
export type QuoteErrorCode = keyof typeof QUOTE_ERRORS

/** Codes that occur only in an entry of a batch response, whose own status is 200. */
export const BATCH_ERRORS = {
  BELOW_MIN_SCORE: { about: 'The price has a score below the requested min_score.' },
} as const
export type BatchErrorCode = QuoteErrorCode | keyof typeof BATCH_ERRORS

/** Errors identified by their status. */
export const STATUS_ERRORS = {
  BAD_REQUEST: { status: 400, retryable: false, about: 'The request is malformed.' },
  UNAUTHENTICATED: {
    status: 401,
    retryable: false,
    about: 'The credential is missing, invalid, expired or revoked.',
  },
  FORBIDDEN: { status: 403, retryable: false, about: 'The credential may not use this endpoint.' },
  NOT_FOUND: { status: 404, retryable: false, about: 'Unknown chain, pool or path.' },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false, about: 'See the Allow header.' },
  RATE_LIMITED: { status: 429, retryable: true, about: 'Wait for the time in Retry-After.' },
  INTERNAL: { status: 500, retryable: true, about: 'The service failed; the request id names the log line.' },
  UNAVAILABLE: { status: 503, retryable: true, about: 'The service cannot answer right now.' },
} as const satisfies Readonly<Record<string, HttpEntry>>
export type StatusErrorCode = keyof typeof STATUS_ERRORS

/**
 * Why replay cannot continue (R-stream-4). Each requires the same response: discard, take a snapshot, subscribe
 * again.
 */
export const RESET_REASONS = {
  INVALID_CURSOR: 'The cursor was tampered with, or belongs to another history of the log.',
  EXPIRED_CURSOR: 'The cursor is too old.',
  FILTER_MISMATCH: 'A cursor is chain-wide; the filter is not exactly its chain.',
  REPLAY_UNAVAILABLE: 'Records after the cursor are no longer retained.',
  SCHEMA_MISMATCH: 'The cursor was issued for another schema version.',
} as const
export type ResetReason = keyof typeof RESET_REASONS
export const ResetReason = known(Object.keys(RESET_REASONS) as ResetReason[])

/** Close codes of the stream, and whether connecting again can help. */
export const CLOSE_CODES = {
  1000: { reconnect: true, about: 'Normal end: after RESET_REQUIRED, or by the client.' },
  1008: {
    reconnect: false,
    about: 'The subscribe frame is invalid, or the credential was revoked; see the reason.',
  },
  1012: { reconnect: true, about: 'The service is restarting.' },
  1013: { reconnect: true, about: 'The consumer fell behind; the reason names the last sequence.' },
} as const

/** Any other code is a broken connection. */
export const shouldReconnect = (code: number): boolean =>
  (CLOSE_CODES as Readonly<Record<number, { readonly reconnect: boolean }>>)[code]?.reconnect ?? true

/** Body of a non-quote error. */
export const ErrorBody = object({ error: string() })

/** Body of a quote error. */
export const QuoteErrorBody = object({
  code: known([...Object.keys(QUOTE_ERRORS), ...Object.keys(BATCH_ERRORS)] as BatchErrorCode[]),
  message: string(),
  detail: nullable(string()),
})
