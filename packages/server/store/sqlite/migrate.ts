/**
 * Brings a database file to the newest schema. The version is SQLite's `user_version`, which changes in the same
 * transaction as the tables, so an interrupted migration leaves no trace.
 */
import type { DatabaseSync } from 'node:sqlite'
import { type Migration, pendingMigrations } from '../migrations.ts'
import { StoreError } from '../storeError.ts'
import { toStoreError } from './sqliteError.ts'

/** "Assy": marks the file as ours, see `file assay.db`. */
const APPLICATION_ID = 0x41737379

export function migrate(database: DatabaseSync, migrations: readonly Migration[], nowMs: number): void {
  // A database that is up to date is not locked for writing.
  while (nextOf(database, migrations) !== undefined)
    transaction(database, 'BEGIN IMMEDIATE', () => {
      // Another thread may have been faster, so the next migration is read again under the lock.
      const next = nextOf(database, migrations)
      if (next !== undefined) apply(database, next, nowMs)
    })
}

/** Refuses a newer database and one of another program; one read shows both. */
export function refuseUnknown(database: DatabaseSync, migrations: readonly Migration[]): void {
  transaction(database, 'BEGIN', () => {
    const id = pragma(database, 'application_id')
    const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as {
      tables: number
    }
    const isNew = id === 0 && tables === 0
    if (id !== APPLICATION_ID && !isNew)
      throw new StoreError('STORE_FOREIGN', `${database.location()} is a database of another program.`)
    nextOf(database, migrations)
  })
}

export const schemaVersion = (database: DatabaseSync): number => pragma(database, 'user_version')

const nextOf = (database: DatabaseSync, migrations: readonly Migration[]): Migration | undefined =>
  pendingMigrations(migrations, schemaVersion(database))[0]

function apply(database: DatabaseSync, { version, name, sql }: Migration, nowMs: number): void {
  try {
    database.exec(sql)
    database
      .prepare('INSERT INTO migration (version, name, applied_at_ms) VALUES (?, ?, ?)')
      .run(version, name, nowMs)
    database.exec(`PRAGMA user_version = ${version}; PRAGMA application_id = ${APPLICATION_ID}`)
  } catch (error) {
    const failure = toStoreError(error)
    const code = failure instanceof StoreError ? failure.code : 'STORE_INTERNAL'
    const why = error instanceof Error ? error.message : String(error)
    throw new StoreError(code, `Schema migration ${version} (${name}) failed: ${why}`, { cause: error })
  }
}

function transaction(database: DatabaseSync, begin: 'BEGIN' | 'BEGIN IMMEDIATE', body: () => void): void {
  database.exec(begin)
  try {
    body()
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function pragma(database: DatabaseSync, name: 'user_version' | 'application_id'): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Readonly<Record<typeof name, number>>
  return row[name]
}
