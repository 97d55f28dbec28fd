/**
 * Failures of the API, from one catalogue: code to status lives here and nowhere else. Quote endpoints answer
 * `{code, message, detail}`, all others `{error}`; 401, 403 and 429 have an empty body everywhere.
 */

export const QUOTE_STATUS = {
  INVALID_PARAMS: 400,
  INVALID_ADDRESS: 400,
  UNSUPPORTED_CHAIN: 404,
  NOT_A_POOL: 404,
  TOKEN_UNKNOWN: 404,
  NO_ROUTE: 422,
  NOT_SUPPORTED: 422,
  RPC_UNAVAILABLE: 503,
  BUDGET_EXCEEDED: 503,
  DEADLINE_EXCEEDED: 504,
} as const

export type QuoteCode = keyof typeof QUOTE_STATUS

export class QuoteError extends Error {
  override readonly name = 'QuoteError'
  readonly code: QuoteCode
  readonly detail: string | null

  constructor(code: QuoteCode, message: string, detail: string | null = null) {
    super(message)
    this.code = code
    this.detail = detail
  }
}

/** A failure outside quotes: malformed 400, unknown 404, and so on. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** 401, 403 or 429: no body, the header says the rest. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: 401 | 403 | 429
  readonly retryAfterS: number | null

  constructor(status: 401 | 403 | 429, waitMs: number | null = null) {
    super(`refused with ${status}`)
    this.status = status
    this.retryAfterS = waitMs === null ? null : Math.max(1, Math.ceil(waitMs / 1000))
  }
}
