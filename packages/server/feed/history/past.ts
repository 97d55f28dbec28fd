/** What can be asked of blocks that were not followed; see `pastReader.ts`. Nothing of it is verified by itself. */
import type { Hex } from '../../ops/config.ts'
import type { LogEntry } from '../answers/entry.ts'

export type PastHeader = { readonly number: number; readonly hash: Hex; readonly timeMs: number }

export type PastQuery = {
  readonly from: number
  readonly to: number
  readonly topics: readonly Hex[]
  /** Of the second topic; left out, whatever it is. */
  readonly seconds?: readonly Hex[]
  readonly addresses: readonly Hex[]
}

export type PastLogs = { readonly logs: readonly LogEntry[]; readonly isProven: boolean }

/** One reading, from its first call to its last. */
export interface PastReading {
  /** All logs, in order. Throws a FeedError where they are not to be had. */
  logs(query: PastQuery): Promise<PastLogs>
  /** Headers of our chain or not: it says what is at the number now. */
  headers(numbers: readonly number[]): Promise<readonly PastHeader[]>
  /** Worth asking for at once: many in a batch, few where each is a call. */
  readonly mostHeaders: number
  /** Blocks of logs that one call gives, as far as that is known. */
  readonly rangeSize: number
}

export interface PastReader {
  begin(signal: AbortSignal): PastReading
}
