/**
 * Everything a call can throw. Each failure has a code from the wire's catalogue or from `CLIENT_ERRORS` and the HTTP
 * status if there was an answer. It also states whether a retry can help and how long to wait first.
 *
 * A token without a price is not a failure: UNPRICED and PENDING are values.
 */
import { QUOTE_ERRORS, type QuoteErrorCode, STATUS_ERRORS, type StatusErrorCode } from '../wire/error.ts'
import type { Known } from '../wire/schema.ts'

/** Failures for which no answer of the service gives a code. */
export const CLIENT_ERRORS = {
  NETWORK: { retryable: true, about: 'The service could not be reached.' },
  TIMEOUT: { retryable: true, about: 'No response within the time limit of the caller.' },
  UNEXPECTED_ANSWER: { retryable: false, about: 'A response this SDK cannot read.' },
  STREAM_CLOSED: { retryable: false, about: 'The stream was closed permanently; see the reason.' },
  NO_WEBSOCKET: {
    retryable: false,
    about: 'The runtime has no WebSocket and none was passed to the client.',
  },
  SCHEMA_TOO_NEW: { retryable: false, about: 'The stream is newer than this SDK.' },
} as const
export type ClientErrorCode = keyof typeof CLIENT_ERRORS

export type FailureCode = Known<QuoteErrorCode | StatusErrorCode | ClientErrorCode>

type Facts = {
  readonly code: FailureCode
  readonly message: string
  readonly status?: number | null
  readonly retryable?: boolean
  readonly retryAfterMs?: number | null
  readonly requestId?: string | null
  readonly cause?: unknown
}

export class AssayError extends Error {
  override readonly name: string = 'AssayError'
  readonly code: FailureCode
  readonly status: number | null
  readonly retryable: boolean
  readonly retryAfterMs: number | null
  /** `X-Request-Id` of the answer, which an operator can search for in the log. */
  readonly requestId: string | null

  constructor(facts: Facts) {
    super(facts.message, { cause: facts.cause })
    this.code = facts.code
    this.status = facts.status ?? null
    this.retryable = facts.retryable ?? isRetryable(facts.code, this.status)
    this.retryAfterMs = facts.retryAfterMs ?? null
    this.requestId = facts.requestId ?? null
  }
}

/** 401. */
export class UnauthenticatedError extends AssayError {
  override readonly name = 'UnauthenticatedError'
}

/** 403. */
export class ForbiddenError extends AssayError {
  override readonly name = 'ForbiddenError'
}

/** 429; `retryAfterMs` is the time to wait. */
export class RateLimitedError extends AssayError {
  override readonly name = 'RateLimitedError'
}

/** A quote error: `code` is the service's own. */
export class QuoteError extends AssayError {
  override readonly name = 'QuoteError'
  readonly detail: string | null

  constructor(facts: Facts & { readonly detail: string | null }) {
    super(facts)
    this.detail = facts.detail
  }
}

/** Any other answer that is not a success. */
export class RequestError extends AssayError {
  override readonly name = 'RequestError'
}

/** No answer: `NETWORK` or `TIMEOUT`. */
export class UnreachableError extends AssayError {
  override readonly name = 'UnreachableError'
}

type Answer = {
  readonly status: number
  readonly body: object | null
  readonly retryAfterMs: number | null
  readonly requestId: string | null
  /** Method and path, for the message; never the query, never a header. */
  readonly what: string
}

/** Answers without a body, identified by their status alone. */
const BY_STATUS_ALONE: Readonly<
  Record<number, { readonly code: StatusErrorCode; readonly Failure: new (facts: Facts) => AssayError }>
> = {
  401: { code: 'UNAUTHENTICATED', Failure: UnauthenticatedError },
  403: { code: 'FORBIDDEN', Failure: ForbiddenError },
  429: { code: 'RATE_LIMITED', Failure: RateLimitedError },
}

/** The error for a response outside 2xx. */
export function errorOf({ body, what, ...facts }: Answer): AssayError {
  const { status } = facts
  const bare = BY_STATUS_ALONE[status]
  if (bare !== undefined)
    return new bare.Failure({
      ...facts,
      code: bare.code,
      message: `${what}: ${STATUS_ERRORS[bare.code].about}`,
    })
  const { code, message, detail, error } = textsOf(body)
  if (code !== null)
    return new QuoteError({ ...facts, code, detail, message: `${what}: ${code}: ${message ?? 'no message'}` })
  const byStatus = codeOf(status)
  return new RequestError({ ...facts, code: byStatus, message: `${what}: ${status}: ${error ?? byStatus}` })
}

function codeOf(status: number): StatusErrorCode {
  for (const [code, entry] of Object.entries(STATUS_ERRORS))
    if (entry.status === status) return code as StatusErrorCode
  return status >= 500 ? 'UNAVAILABLE' : 'BAD_REQUEST'
}

/** The string fields of an error body. */
function textsOf(body: object | null) {
  const fields: Readonly<Record<string, unknown>> = { ...body }
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : null)
  return { code: text('code'), message: text('message'), detail: text('detail'), error: text('error') }
}

const CATALOGUE: Readonly<Record<string, { readonly retryable: boolean }>> = {
  ...QUOTE_ERRORS,
  ...STATUS_ERRORS,
  ...CLIENT_ERRORS,
}

/** From the catalogue; for an unknown code, from its status. */
const isRetryable = (code: string, status: number | null): boolean =>
  CATALOGUE[code]?.retryable ?? (status !== null && status >= 500)
