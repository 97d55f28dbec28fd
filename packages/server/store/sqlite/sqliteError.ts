/** Maps SQLite's result codes to store errors. */
import { StoreError, type StoreErrorCode } from '../storeError.ts'

/** Primary result codes, https://www.sqlite.org/rescode.html */
const CODES: Readonly<Record<number, StoreErrorCode>> = {
  5: 'STORE_BUSY',
  6: 'STORE_BUSY',
  8: 'STORE_READ_ONLY',
  10: 'STORE_IO',
  11: 'STORE_CORRUPT',
  13: 'STORE_FULL',
  14: 'STORE_IO',
  19: 'STORE_CONSTRAINT',
  26: 'STORE_CORRUPT',
}

type SqliteFailure = Error & { readonly errcode: number; readonly errstr: string }

/** Converts failures of SQLite to store errors; leaves other errors unchanged. */
export function toStoreError(error: unknown): unknown {
  if (!isSqliteFailure(error)) return error
  // The low byte of an extended result code is the primary one.
  const code = CODES[error.errcode & 0xff] ?? 'STORE_INTERNAL'
  const message = `SQLite: ${error.message} (${error.errstr}, code ${error.errcode})`
  return new StoreError(code, message, { cause: error })
}

const isSqliteFailure = (error: unknown): error is SqliteFailure =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
