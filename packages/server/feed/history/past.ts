/** Requests about blocks that were not followed; see `pastReader.ts`. The results carry no proof of their own. */
import type { Hex } from '../../ops/hex.ts'
import type { LogEntry } from '../answers/entry.ts'

export type PastHeader = { readonly number: number; readonly hash: Hex; readonly timeMs: number }

export type PastQuery = {
  readonly from: number
  readonly to: number
  readonly topics: readonly Hex[]
  /** Values of the second topic; left out, any value matches. */
  readonly seconds?: readonly Hex[]
  readonly addresses: readonly Hex[]
}

export type PastLogs = { readonly logs: readonly LogEntry[]; readonly isProven: boolean }

/** One reading, from its first call to its last. */
export interface PastReading {
  /** All logs, in order. Throws a FeedError when they are not available. */
  logs(query: PastQuery): Promise<PastLogs>
  /** Headers at these numbers now, whether or not they are on the chain we follow. */
  headers(numbers: readonly number[]): Promise<readonly PastHeader[]>
  /** How many headers are worth requesting at once: many in a batch, few when each needs a call. */
  readonly mostHeaders: number
  /** Blocks of logs that one call returns, as far as known. */
  readonly rangeSize: number
}

export interface PastReader {
  begin(signal: AbortSignal): PastReading
}
