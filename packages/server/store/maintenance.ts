/** What an operator or a timer asks of a store, beside the port: retention, and a new epoch after a restore. */
import type { LogBounds, Sequence } from './port.ts'
import { StoreError } from './storeError.ts'

export type PruneLimits = {
  readonly nowMs: number
  /** What is younger stays. */
  readonly hours: number
  /** The newest so many stay, however old. */
  readonly records: number
  /** The most deleted in one transaction; writers get their turn in between. */
  readonly batch: number
  readonly signal?: AbortSignal
  /** How far the slowest replay has read, if there is one: what it has not read yet stays. Asked at every step. */
  readonly replayed?: () => Sequence | null
}

export type Pruned = { readonly records: number; readonly events: number; readonly inputs: number }

export type MaintenanceStore = {
  /** Deletes, from the oldest, what is past both limits. A record may stay a little longer with its neighbours. */
  prune(limits: PruneLimits): Promise<Pruned>
  /** To be called once after restoring a backup: sequences handed out since then are never used again. */
  startEpoch(): Promise<LogBounds>
}

export function assertPruneLimits({ hours, records, batch }: PruneLimits): void {
  if ([hours, records, batch - 1].every(each => Number.isSafeInteger(each) && each >= 0)) return
  const received = JSON.stringify({ hours, records, batch })
  throw new StoreError('STORE_MISUSE', `retention limits must be positive integers: received ${received}`)
}
