/** What an operator asks of the database itself: whether it is sound, a copy of it, and a copy put back. */
import type { Config } from './ops/config.ts'
import { type CheckReport, checkStore } from './store/check.ts'
import { claimStore, openReader, openStore, sqlitePath } from './store/openStore.ts'
import type { LogBounds } from './store/port.ts'
import { backupSqlite, type Restored, restoreSqlite } from './store/sqlite/backup.ts'

export async function checkDatabase(config: Config): Promise<CheckReport> {
  const store = await openReader(config.store.address.reveal())
  try {
    return await checkStore(store)
  } finally {
    await store.close()
  }
}

/** While the service runs or not. */
export async function backupDatabase(config: Config, to: string): Promise<LogBounds> {
  const path = sqlitePath(config.store.address.reveal())
  if (path === null)
    throw new Error(
      'A PostgreSQL database is backed up with its own tools: pg_dump --schema=assay --format=custom --file=FILE DATABASE',
    )
  return backupSqlite(path, to)
}

/** With the service stopped. Of PostgreSQL, after `pg_restore`: only the new epoch is left to begin. */
export async function restoreDatabase(
  config: Config,
  from: string | null,
  epoch: number | null,
): Promise<Restored> {
  const address = config.store.address.reveal()
  const path = sqlitePath(address)
  if (path !== null) {
    if (from === null) throw new Error('--from is missing: the backup to restore')
    return restoreSqlite(path, from, epoch, Date.now())
  }
  if (from !== null)
    throw new Error('A PostgreSQL database is restored with pg_restore; then run this again without --from')
  const release = await claimStore(address)
  try {
    const store = await openStore(address)
    const bounds = await store.startEpoch()
    await store.close()
    return { ...bounds, replaced: null }
  } finally {
    await release()
  }
}
