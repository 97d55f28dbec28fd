/** The most rows one read may return: a negative limit would mean none at all. */
import { StoreError } from './storeError.ts'

/** Ten times the largest page of the API. Such a read still takes milliseconds, on the thread that serves. */
const MAX_ROWS = 10_000

export function rowLimit(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_ROWS) return limit
  throw new StoreError('STORE_MISUSE', `limit: received ${limit}, expected an integer from 1 to ${MAX_ROWS}`)
}
