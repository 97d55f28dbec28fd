/**
 * Failures of the API. Codes and their statuses are in the catalogue of the wire. Quote endpoints answer `{code,
 * message, detail}`, all others `{error}`; 401, 403 and 429 have an empty body everywhere.
 */

import { QUOTE_ERRORS, type QuoteErrorCode } from '@assay/sdk/wire'

export const statusOf = (code: QuoteErrorCode): number => QUOTE_ERRORS[code].status

/** Paths whose failures have the form of quotes. */
const QUOTE_PATHS = ['/v1/quote/', '/v1/exit/', '/v1/cost/']

export const isQuotePath = (path: string): boolean => QUOTE_PATHS.some(start => path.startsWith(start))

export class QuoteError extends Error {
  override readonly name = 'QuoteError'
  readonly code: QuoteErrorCode
  readonly detail: string | null
  /** In whole seconds, as in the header. */
  readonly retryAfterS: number | null

  constructor(
    code: QuoteErrorCode,
    message: string,
    detail: string | null = null,
    retryAfterMs: number | null = null,
  ) {
    super(message)
    this.code = code
    this.detail = detail
    this.retryAfterS = wholeSeconds(retryAfterMs)
  }
}

/** A failure outside quote endpoints: malformed 400, unknown 404, and so on. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** 401, 403 or 429: no body, only headers. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: 401 | 403 | 429
  readonly retryAfterS: number | null

  constructor(status: 401 | 403 | 429, waitMs: number | null = null) {
    super(`refused with ${status}`)
    this.status = status
    this.retryAfterS = wholeSeconds(waitMs)
  }
}

/** No connection slot is free. */
export class Crowded extends Error {
  override readonly name = 'Crowded'

  constructor(most: number) {
    super(`${most} connections are open; try again in a second`)
  }
}

const wholeSeconds = (waitMs: number | null): number | null =>
  waitMs === null ? null : Math.max(1, Math.ceil(waitMs / 1000))
