/**
 * Copies of a database. A backup is one state of the file, taken while the service runs. A restore replaces the
 * database with a backup and begins a new epoch: sequences handed out since the backup are never used again, and a
 * cursor from that time is refused rather than misread.
 */
import {
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  closeSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { epochOf, epochStart } from '../epoch.ts'
import type { LogBounds } from '../port.ts'
import { StoreError } from '../storeError.ts'
import { canonicalPath, claimDatabase } from './claim.ts'
import { Connection } from './connection.ts'
import { boundsReader } from './log.ts'
import { markPath, readMark } from './mark.ts'
import { markRestored } from './sequenceMark.ts'
import { integrityOf } from './integrity.ts'
import { openFile } from './reader.ts'
import { toStoreError } from './sqliteError.ts'

export type Restored = LogBounds & {
  /** Where the previous database is kept; null if there was none. */
  readonly replaced: string | null
}

/** Writes one state of the database to a new file, which must not exist yet. The service keeps running. */
export function backupSqlite(path: string, to: string): LogBounds {
  if (existsSync(to)) throw new StoreError('STORE_MISUSE', `${to} exists already: choose another name.`)
  const draft = `${resolve(to)}.part`
  rmSync(draft, { force: true })
  closeSync(openSync(draft, 'wx', 0o600))
  const database = openFile(path)
  try {
    database.prepare('VACUUM INTO ?').run(draft)
  } catch (error) {
    rmSync(draft, { force: true })
    throw toStoreError(error)
  } finally {
    database.close()
  }
  const bounds = soundBounds(draft)
  sync(draft)
  renameSync(draft, to)
  sync(dirname(resolve(to)))
  return bounds
}

/**
 * Run only while the service is stopped. `epoch` is required when the present database cannot be read: it must be above
 * every epoch ever used.
 */
export function restoreSqlite(path: string, from: string, epoch: number | null, nowMs: number): Restored {
  const release = claimDatabase(path)
  try {
    const backup = soundBounds(from)
    const marked = markedEpoch(canonicalPath(path))
    const next = epoch ?? Math.max(backup.epoch, marked, currentEpoch(path)) + 1
    if (next <= Math.max(backup.epoch, marked))
      throw new StoreError(
        'STORE_MISUSE',
        marked > backup.epoch
          ? `epoch ${next} is not above epoch ${marked}, in which sequences were issued`
          : `epoch ${next} is not above epoch ${backup.epoch} of the backup`,
      )
    const draft = `${resolve(path)}.restored`
    rmSync(draft, { force: true })
    copyFileSync(from, draft)
    startEpochIn(draft, next)
    sync(draft)
    const replaced = setAside(path, `${path}.before-${nowMs}`)
    renameSync(draft, path)
    sync(dirname(resolve(path)))
    const bounds = soundBounds(path)
    markRestored(canonicalPath(path), bounds.head)
    return { ...bounds, replaced }
  } finally {
    release()
  }
}

/** Refuses a file that is not a complete database of ours. */
function soundBounds(path: string): LogBounds {
  const database = openFile(path)
  try {
    const [fault] = integrityOf(database)
    if (fault !== undefined) throw new StoreError('STORE_CORRUPT', `${path} is damaged: ${fault}`)
    const connection = new Connection(database)
    return connection.read(boundsReader(connection))
  } catch (error) {
    throw toStoreError(error)
  } finally {
    database.close()
  }
}

/** The epoch of the last sequence handed out; -1 without a mark. */
function markedEpoch(database: string): number {
  const mark = readMark(database)
  return typeof mark === 'number' ? epochOf(mark) : -1
}

/** -1 for a database that was never written to. */
function currentEpoch(path: string): number {
  try {
    const database = new DatabaseSync(path)
    try {
      const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as {
        tables: number
      }
      if (tables === 0) return -1
      // The content of its write-ahead log belongs to the file that is set aside.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return (database.prepare('SELECT epoch FROM head').get() as { epoch: number }).epoch
    } finally {
      database.close()
    }
  } catch (cause) {
    throw new StoreError(
      'STORE_CORRUPT',
      `${path} cannot be read, so its epoch is not known. Give --epoch N, above every epoch it ever had.`,
      { cause },
    )
  }
}

function startEpochIn(path: string, epoch: number): void {
  const database = new DatabaseSync(path)
  try {
    database.prepare('UPDATE head SET epoch = ?, next = ?').run(epoch, epochStart(epoch) + 1)
  } finally {
    database.close()
  }
}

/** The old file keeps a name until the new one is in place; its write-ahead log must not be applied to the new file. */
function setAside(path: string, name: string): string | null {
  if (!existsSync(path)) return null
  linkSync(path, name)
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${name}-wal`)
  rmSync(`${path}-shm`, { force: true })
  if (existsSync(markPath(path))) copyFileSync(markPath(path), markPath(name))
  return name
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
