/** Limits the rows of one read; a negative limit would mean unlimited. */
import { StoreError } from './storeError.ts'

/** Ten times the largest page of the API. Such a read still takes only milliseconds on the serving thread. */
const MAX_ROWS = 10_000

export function rowLimit(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_ROWS) return limit
  throw new StoreError('STORE_MISUSE', `limit: received ${limit}, expected an integer from 1 to ${MAX_ROWS}`)
}
