/**
 * Opens a store by its address: `sqlite:PATH` or `postgres://…`. A process claims it once; then each of its threads
 * opens it. PostgreSQL and its driver are loaded only when used, because every chain's thread loads this file.
 */
import type { BackfillStore } from './backfill.ts'
import type { StoreReader } from './check.ts'
import type { Lease } from './cluster.ts'
import type { OnLoss } from './loss.ts'
import type { MaintenanceStore } from './maintenance.ts'
import type { LogStore, Store } from './port.ts'
import { startCheckpointer } from './sqlite/checkpointer.ts'
import { canonicalPath, claimDatabase } from './sqlite/claim.ts'
import { keepMark } from './sqlite/sequenceMark.ts'
import { openSqliteReader } from './sqlite/reader.ts'
import { openSqliteStore } from './sqlite/sqliteStore.ts'

/**
 * Claims the store for this process; call the returned function after all threads have closed it. `onLoss` receives
 * records that were handed out and are gone: on SQLite when this thread first opens the store.
 */
export async function claimStore(
  address: string,
  onLoss: OnLoss = () => undefined,
): Promise<() => Promise<void>> {
  const path = sqlitePath(address)
  if (path === null) return (await import('./postgres/claim.ts')).claimPostgres(address, 'alone', onLoss)
  const release = claimDatabase(path)
  const dropMark = keepMark(canonicalPath(path), onLoss)
  const stopCheckpointer = startCheckpointer(canonicalPath(path))
  return async () => {
    await stopCheckpointer()
    dropMark()
    release()
  }
}

/** Like `claimStore`, but shared with other processes. SQLite cannot be shared: there this process has it alone. */
export async function shareStore(address: string, onLoss?: OnLoss): Promise<() => Promise<void>> {
  if (sqlitePath(address) !== null) return claimStore(address, onLoss)
  return (await import('./postgres/claim.ts')).claimPostgres(address, 'shared', onLoss)
}

/**
 * Call in a process that has claimed the store; `lease` is the chain's lease, when several processes share the store.
 */
export async function openStore(
  address: string,
  lease: Lease | null = null,
): Promise<Store & MaintenanceStore & BackfillStore> {
  const path = sqlitePath(address)
  if (path !== null) return openSqliteStore({ path })
  return (await import('./postgres/postgresStore.ts')).openPostgresStore(address, lease)
}

/**
 * For an API node: with a replica, market data is read there. `tail` is the log as far as this node can have seen it;
 * `readBounds` always gives its real end.
 */
export async function openNodeStore(
  address: string,
  replica: string | null,
): Promise<Store & MaintenanceStore & BackfillStore & { readonly tail: LogStore }> {
  if (replica !== null)
    return (await import('./postgres/replicatedStore.ts')).openReplicatedStore(address, replica)
  const store = await openStore(address)
  return { ...store, tail: store }
}

/** For reading only, even if another process has claimed it. */
export async function openReader(address: string): Promise<StoreReader> {
  const path = sqlitePath(address)
  if (path !== null) return openSqliteReader(path)
  return (await import('./postgres/reader.ts')).openPostgresReader(address)
}

export const sqlitePath = (address: string): string | null =>
  address.startsWith('sqlite:') ? address.slice('sqlite:'.length) : null
