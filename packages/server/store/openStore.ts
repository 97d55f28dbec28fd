/**
 * A store by its address: `sqlite:PATH` or `postgres://…`. A process claims it once; then each of its threads
 * opens it for itself.
 */
import { statSync } from 'node:fs'
import type { Log } from '../ops/log.ts'
import type { BackfillStore } from './backfill.ts'
import type { StoreReader } from './check.ts'
import type { Seat } from './cluster.ts'
import type { MaintenanceStore } from './maintenance.ts'
import type { LogStore, Store } from './port.ts'
import { claimPostgres } from './postgres/claim.ts'
import { CommitListener } from './postgres/listener.ts'
import { openPostgresStore } from './postgres/postgresStore.ts'
import { openPostgresReader } from './postgres/reader.ts'
import { openReplicatedStore } from './postgres/replicatedStore.ts'
import { claimDatabase } from './sqlite/claim.ts'
import { openSqliteReader } from './sqlite/reader.ts'
import { openSqliteStore } from './sqlite/sqliteStore.ts'

/** Claims the store for this process; the returned function gives it back after all threads have closed it. */
export async function claimStore(address: string): Promise<() => Promise<void>> {
  const path = sqlitePath(address)
  if (path === null) return claimPostgres(address)
  const release = claimDatabase(path)
  return async () => release()
}

/** As `claimStore`, but beside others who share it too. SQLite has no such thing: there it is for this process alone. */
export async function shareStore(address: string): Promise<() => Promise<void>> {
  return sqlitePath(address) === null ? claimPostgres(address, 'shared') : claimStore(address)
}

/** In a process that has claimed it; `seat` is the chain it was elected to write, where several share the store. */
export function openStore(
  address: string,
  seat: Seat | null = null,
): Promise<Store & MaintenanceStore & BackfillStore> {
  const path = sqlitePath(address)
  return path === null ? openPostgresStore(address, seat) : openSqliteStore({ path })
}

/**
 * For an API node: with a replica, what it reads of the market is read there. `tail` is the log as far as this node can
 * have seen it; `readBounds` always says where it really ends.
 */
export async function openNodeStore(
  address: string,
  replica: string | null,
): Promise<Store & MaintenanceStore & BackfillStore & { readonly tail: LogStore }> {
  if (replica !== null) return openReplicatedStore(address, replica)
  const store = await openStore(address)
  return { ...store, tail: store }
}

/** For reading alone, whoever has claimed it. */
export async function openReader(address: string): Promise<StoreReader> {
  const path = sqlitePath(address)
  return path === null ? openPostgresReader(address) : openSqliteReader(path)
}

export const sqlitePath = (address: string): string | null =>
  address.startsWith('sqlite:') ? address.slice('sqlite:'.length) : null

/** How often the write-ahead log is looked at, and how large it may grow before somebody should know. */
const WAL_WATCH = { everyMs: 60_000, largeBytes: 256 * 1024 * 1024 }

/** What a running store should be watched for: news of other processes, and what goes wrong by and by. */
export function watchStore(
  address: string,
  onNews: () => void,
  log: Pick<Log, 'warn'>,
  { everyMs, largeBytes } = WAL_WATCH,
): { close(): Promise<void> } {
  const path = sqlitePath(address)
  if (path === null)
    return new CommitListener({
      url: address,
      onNews,
      onQueue: share => log.warn('the notification queue of PostgreSQL fills up', { share }),
    })
  const timer = setInterval(() => {
    const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
    if (bytes > largeBytes)
      log.warn('the write-ahead log is large: a reader holds on to an old state', { bytes })
  }, everyMs)
  timer.unref()
  return { close: async () => clearInterval(timer) }
}
