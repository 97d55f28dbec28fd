/** Maintenance of a store by an operator or a timer, beside the port: retention, and a new epoch after a restore. */
import type { CandleBuildStore } from './candles.ts'
import type { LogBounds, Sequence } from './port.ts'
import { StoreError } from './storeError.ts'
import type { ScanStore } from './withdrawalScan.ts'

export type PruneLimits = {
  readonly nowMs: number
  /** Younger records stay. */
  readonly hours: number
  /** This many of the newest records stay, whatever their age. */
  readonly records: number
  /** How long prices are retained, if that is longer than the log; null: they go with the log. */
  readonly historyDays?: number | null
  /** The most rows deleted in one transaction; writers get their turn in between. */
  readonly batch: number
  readonly signal?: AbortSignal
  /** The position of the slowest replay, if there is one: records above it stay. Read at every step. */
  readonly replayed?: () => Sequence | null
}

export type Pruned = { readonly records: number; readonly events: number; readonly inputs: number }

export type MaintenanceStore = RetentionStore & ScanStore & CandleBuildStore

export type RetentionStore = {
  /** Deletes, from the oldest, the records past both limits. A record may stay a little longer with its neighbours. */
  prune(limits: PruneLimits): Promise<Pruned>
  /** The number of prices in history, and the times of evaluation of the oldest and the newest. */
  readHistorySize(): Promise<{ readonly prices: number; readonly fromMs: number; readonly toMs: number }>
  /** Call once after restoring a backup: sequences handed out since then are never used again. */
  startEpoch(): Promise<LogBounds>
}

const HOUR_MS = 3_600_000

/**
 * No reorganisation is deeper (*policy* `max_undo_blocks`), so no price that comes later belongs to a candle that is
 * lower than this below the oldest price.
 */
export const REACH_BLOCKS = 8192

/** Rows committed at this time or before are old. */
export const oldestMs = ({ nowMs, hours }: PruneLimits): number => nowMs - hours * HOUR_MS

/** The same for history, which is never shorter than the log. */
export const oldestHistoryMs = ({ nowMs, hours, historyDays }: PruneLimits): number =>
  nowMs - Math.max(hours, 24 * (historyDays ?? 0)) * HOUR_MS

export function assertPruneLimits({ hours, records, batch, historyDays }: PruneLimits): void {
  const limits = [hours, records, batch - 1, historyDays ?? 0]
  if (limits.every(each => Number.isSafeInteger(each) && each >= 0)) return
  const received = JSON.stringify({ hours, records, batch, historyDays })
  throw new StoreError('STORE_MISUSE', `retention limits must be positive integers: received ${received}`)
}
