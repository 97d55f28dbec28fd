/** Deletes old records periodically, in steps small enough that no commit has to wait for one. */
import type { Settings } from '../http/settings.ts'
import type { Clock } from '../ops/clock.ts'
import { historyBytes, mebibytes } from '../config/historySize.ts'
import type { Log } from '../ops/log.ts'
import type { MaintenanceStore, PruneLimits } from '../store/maintenance.ts'
import type { LogStore } from '../store/port.ts'
import { scanWithdrawals } from '../store/withdrawalScan.ts'

const PRUNE_MS = 600_000
const PRUNE_BATCH = 500

export type Retaining = {
  readonly store: MaintenanceStore & Pick<LogStore, 'readLog'>
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
  const closing = new AbortController()
  void tellSize(store, settings, log)
  scanWithdrawals(store, closing.signal).catch((failure: unknown) =>
    log.warn('the scan for prices withdrawn under an earlier version failed; the next start continues it', {
      error: String(failure),
    }),
  )
  const pruning = setInterval(() => {
    if (isWanted?.() === false) return
    store
      .prune({ nowMs: clock.nowMs(), ...settings.retention, batch: PRUNE_BATCH, replayed })
      .catch((failure: unknown) => log.warn('old records could not be pruned', { error: String(failure) }))
  }, PRUNE_MS)
  pruning.unref()
  return {
    close() {
      closing.abort()
      clearInterval(pruning)
    },
  }
}

/** At start, so that an operator learns the size of a history before it is there. */
async function tellSize(store: MaintenanceStore, { retention }: Settings, log: Log): Promise<void> {
  const days = retention.historyDays ?? null
  if (days === null) return
  try {
    const { prices, fromMs, toMs } = await store.readHistorySize()
    log.info('price history is enabled', {
      days,
      prices,
      expected_mib: mebibytes(historyBytes(days, { prices, ms: toMs - fromMs })),
    })
  } catch (failure) {
    log.warn('the size of the history could not be read', { error: String(failure) })
  }
}
