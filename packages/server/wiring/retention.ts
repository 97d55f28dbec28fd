/** Deletes old records periodically, in steps small enough that no commit has to wait for one. */
import type { Settings } from '../http/settings.ts'
import type { Clock } from '../ops/clock.ts'
import type { Log } from '../ops/log.ts'
import type { MaintenanceStore, PruneLimits } from '../store/maintenance.ts'

const PRUNE_MS = 600_000
const PRUNE_BATCH = 500

export type Retaining = {
  readonly store: MaintenanceStore
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Log
  readonly replayed: NonNullable<PruneLimits['replayed']>
  /** Left out, retention always runs. */
  readonly isWanted?: () => boolean
}

export function keepPruning({ store, settings, clock, log, replayed, isWanted }: Retaining): {
  close(): void
} {
  const pruning = setInterval(() => {
    if (isWanted?.() === false) return
    store
      .prune({ nowMs: clock.nowMs(), ...settings.retention, batch: PRUNE_BATCH, replayed })
      .catch((failure: unknown) => log.warn('old records could not be pruned', { error: String(failure) }))
  }, PRUNE_MS)
  pruning.unref()
  return { close: () => clearInterval(pruning) }
}
