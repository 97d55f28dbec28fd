/** An operator's commands on the database: check, backup and restore. */
import type { Config } from '../config/config.ts'
import { type CheckReport, checkStore } from '../store/check.ts'
import { type Moved, moveStore } from '../store/move.ts'
import { claimStore, openReader, openStore, sqlitePath } from '../store/openStore.ts'
import type { LogBounds } from '../store/port.ts'
import { backupSqlite, type Restored, restoreSqlite } from '../store/sqlite/backup.ts'

export async function checkDatabase(config: Config): Promise<CheckReport> {
  const store = await openReader(config.store.address.reveal())
  try {
    return await checkStore(store)
  } finally {
    await store.close()
  }
}

/** Works with or without a running service. */
export async function backupDatabase(config: Config, to: string): Promise<LogBounds> {
  const path = sqlitePath(config.store.address.reveal())
  if (path === null)
    throw new Error(
      'A PostgreSQL database is backed up with its own tools: pg_dump --schema=assay --format=custom --file=FILE DATABASE',
    )
  return backupSqlite(path, to)
}

/**
 * Run only while the service is stopped. For PostgreSQL, `pg_restore` has already run and only the new epoch is left to
 * begin. The previous database is gone then, so an operator who restores a second time must state which epochs were
 * used.
 */
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
    try {
      const { epoch: before } = await store.readBounds()
      if (epoch !== null && epoch <= before)
        throw new Error(`epoch ${epoch} is not above epoch ${before} of the database`)
      let bounds = await store.startEpoch()
      while (epoch !== null && bounds.epoch < epoch) bounds = await store.startEpoch()
      return { ...bounds, replaced: null }
    } finally {
      await store.close()
    }
  } finally {
    await release()
  }
}

/** Run only while the service is stopped: copies all of a SQLite database into an empty PostgreSQL one, or nothing. */
export async function moveDatabase(
  config: Config,
  to: string,
  onTable?: (table: string, rows: number) => void,
): Promise<Moved> {
  const path = sqlitePath(config.store.address.reveal())
  if (path === null)
    throw new Error('The store of this configuration is PostgreSQL already; only SQLite is moved.')
  if (!/^postgres(ql)?:\/\/./.test(to))
    throw new Error('--to is not a PostgreSQL address; expected postgres://user:secret@host/database')
  return moveStore(path, to, onTable)
}
