/** A database file for reading alone: it needs no claim, because readers and the one writer do not meet. */
import { DatabaseSync } from 'node:sqlite'
import type { StoreReader } from '../check.ts'
import { StoreError } from '../storeError.ts'
import { canonicalPath } from './claim.ts'
import { Connection } from './connection.ts'
import { logStore } from './log.ts'
import { refuseUnknown, schemaVersion } from './migrate.ts'
import { schema } from './schema.ts'
import { snapshotStore } from './snapshotStore.ts'
import { toStoreError } from './sqliteError.ts'

const BUSY_MS = 5_000

/** The file as it is: of this program, and of a schema that this program reads. */
export function openFile(path: string): DatabaseSync {
  try {
    const database = new DatabaseSync(canonicalPath(path), { readOnly: true, timeout: BUSY_MS })
    try {
      refuseUnknown(database, schema)
      const version = schemaVersion(database)
      if (version !== schema.length)
        throw new StoreError(
          'STORE_SCHEMA_OLDER',
          `${path} has schema version ${version}, and this program works with ${schema.length}: start the service on it once.`,
        )
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw toStoreError(error)
  }
}

export function openSqliteReader(path: string): StoreReader {
  const database = openFile(path)
  const connection = new Connection(database)
  return {
    ...logStore(connection),
    ...snapshotStore(connection),
    readIntegrity: async () => connection.query(() => integrityOf(database)),
    close: async () => connection.close(),
  }
}

export function integrityOf(database: DatabaseSync): readonly string[] {
  const found = database.prepare('PRAGMA integrity_check(100)').all() as { integrity_check: string }[]
  const broken = database.prepare('PRAGMA foreign_key_check').all() as { table: string }[]
  return [
    ...found.map(row => row.integrity_check).filter(text => text !== 'ok'),
    ...broken.map(({ table }) => `a row of ${table} refers to one that is not there`),
  ]
}
