/** Maintenance of a store by an operator or a timer, beside the port: retention, and a new epoch after a restore. */
import type { LogBounds, Sequence } from './port.ts'
import { StoreError } from './storeError.ts'

export type PruneLimits = {
  readonly nowMs: number
  /** Younger records stay. */
  readonly hours: number
  /** This many of the newest records stay, whatever their age. */
  readonly records: number
  /** The most rows deleted in one transaction; writers get their turn in between. */
  readonly batch: number
  readonly signal?: AbortSignal
  /** The position of the slowest replay, if there is one: records above it stay. Read at every step. */
  readonly replayed?: () => Sequence | null
}

export type Pruned = { readonly records: number; readonly events: number; readonly inputs: number }

export type MaintenanceStore = {
  /** Deletes, from the oldest, the records past both limits. A record may stay a little longer with its neighbours. */
  prune(limits: PruneLimits): Promise<Pruned>
  /** Call once after restoring a backup: sequences handed out since then are never used again. */
  startEpoch(): Promise<LogBounds>
}

export function assertPruneLimits({ hours, records, batch }: PruneLimits): void {
  if ([hours, records, batch - 1].every(each => Number.isSafeInteger(each) && each >= 0)) return
  const received = JSON.stringify({ hours, records, batch })
  throw new StoreError('STORE_MISUSE', `retention limits must be positive integers: received ${received}`)
}
