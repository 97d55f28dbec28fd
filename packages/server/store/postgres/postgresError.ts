/** Maps failures of PostgreSQL and its connection to store errors. No message contains the URL or its secret. */
import { StoreError, type StoreErrorCode } from '../storeError.ts'

/** By SQLSTATE, or by its class of two characters; https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CODES: Readonly<Record<string, StoreErrorCode>> = {
  '08': 'STORE_UNREACHABLE',
  '22': 'STORE_MISUSE',
  '23': 'STORE_CONSTRAINT',
  '25006': 'STORE_READ_ONLY',
  '28': 'STORE_UNREACHABLE',
  '3D000': 'STORE_UNREACHABLE',
  '40001': 'STORE_BUSY',
  '40P01': 'STORE_BUSY',
  '53': 'STORE_BUSY',
  '53100': 'STORE_FULL',
  '55P03': 'STORE_BUSY',
  '57014': 'STORE_BUSY',
  '57P': 'STORE_UNREACHABLE',
  '58': 'STORE_IO',
  XX001: 'STORE_CORRUPT',
  XX002: 'STORE_CORRUPT',
}

/** The connection failed before or during a statement: the outcome of the last statement is unknown. */
const BROKEN =
  /^(E[A-Z]+)$|Connection terminated|connection timeout|Client has encountered a connection error|not queryable|Query read timeout/i

export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error
  const state = (error as { readonly code?: unknown }).code
  if (typeof state === 'string' && /^[0-9A-Z]{5}$/.test(state) && 'severity' in error) {
    const code = CODES[state] ?? CODES[state.slice(0, 3)] ?? CODES[state.slice(0, 2)] ?? 'STORE_INTERNAL'
    return new StoreError(code, `PostgreSQL: ${error.message} (SQLSTATE ${state})`, { cause: error })
  }
  if ((typeof state === 'string' && BROKEN.test(state)) || BROKEN.test(error.message))
    return new StoreError(
      'STORE_UNREACHABLE',
      `PostgreSQL cannot be reached: ${error.message || String(state)}`,
      {
        cause: error,
      },
    )
  return error
}
