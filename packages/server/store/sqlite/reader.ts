/** Opens a database file read-only, which needs no claim: readers do not disturb the one writer. */
import { DatabaseSync } from 'node:sqlite'
import type { StoreReader } from '../check.ts'
import { StoreError } from '../storeError.ts'
import { canonicalPath } from './claim.ts'
import { Connection } from './connection.ts'
import { damagedTexts } from './damagedTexts.ts'
import { integrityOf } from './integrity.ts'
import { logStore } from './log.ts'
import { readMark } from './mark.ts'
import { isFlagged } from './sequenceMark.ts'
import { refuseUnknown, schemaVersion } from './migrate.ts'
import { schema } from './schema.ts'
import { snapshotStore } from './snapshotStore.ts'
import { toStoreError } from './sqliteError.ts'

const BUSY_MS = 5_000

/** Opens an existing file of this program with a schema that this program reads. */
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
    throw firstPageFault(path, toStoreError(error))
  }
}

/** SQLite reads the list of tables before anything else: if that fails, the first page is damaged. */
function firstPageFault(path: string, failure: unknown): unknown {
  if (!(failure instanceof StoreError) || failure.code !== 'STORE_CORRUPT') return failure
  return new StoreError(
    'STORE_CORRUPT',
    `${path}: page 1, which lists the tables, is damaged, or this is no database (${failure.message}). ` +
      'Put a backup back with `assay db restore`.',
    { cause: failure },
  )
}

export function openSqliteReader(path: string): StoreReader {
  const database = openFile(path)
  const connection = new Connection(database)
  return {
    ...logStore(connection),
    ...snapshotStore(connection),
    readIntegrity: async () =>
      connection.query(() => [...integrityOf(database), ...damagedTexts(database, canonicalPath(path))]),
    async readMark() {
      const mark = readMark(canonicalPath(path))
      return mark === 'missing' && !connection.query(() => isFlagged(connection)) ? null : mark
    },
    close: async () => connection.close(),
  }
}
