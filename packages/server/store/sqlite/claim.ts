/**
 * One process per database. The claim is a lock of the operating system on `<database>.lock`, held through an open
 * SQLite transaction because Node has no lock of its own. It ends with the process however that dies, so no stale lock
 * can remain, and it works between containers, whose process ids mean nothing to each other.
 *
 * `<database>.owner` names the holder, for the message and for this process's own threads.
 *
 * Once they exist, both files are opened by SQLite only: when a process closes any descriptor of a file, the system
 * releases all its locks on it (https://www.sqlite.org/howtocorrupt.html, 2.2).
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../storeError.ts'
import { refuseNetworkFileSystem } from './fileSystem.ts'
import { type ProcessIdentity, thisProcess } from '../processIdentity.ts'
import { toStoreError } from './sqliteError.ts'

/** Keeps the connections reachable: a garbage-collected one would close and release its lock. */
const held = new Map<string, DatabaseSync>()

/**
 * Claims the database for this process, and creates its folder and file. Call once per process, in the main thread,
 * before any thread opens the store; call the returned function after all have closed it.
 */
export function claimDatabase(path: string): () => void {
  mkdirSync(dirname(resolve(path)), { recursive: true, mode: 0o700 })
  const database = canonicalPath(path)
  refuseNetworkFileSystem(dirname(database))
  if (held.has(database))
    throw new StoreError('STORE_CLAIMED', `This process has already claimed ${database}.`)
  held.set(database, lock(database))
  createPrivately(database)
  writeOwner(database)
  return () => {
    const connection = held.get(database)
    if (connection === undefined) return
    held.delete(database)
    rmSync(ownerPath(database), { force: true })
    connection.close()
  }
}

/** Throws unless some thread of this process has claimed the database. */
export function assertClaimed(path: string): void {
  const database = canonicalPath(path)
  const owner = readOwner(database)
  const self = thisProcess()
  if (owner?.pid === self.pid && owner.start === self.start) return
  throw new StoreError(
    'STORE_UNCLAIMED',
    `Process ${self.pid} has not claimed ${database}${owner === null ? '' : `; process ${owner.pid} has`}.`,
  )
}

/** One name per file, through any links. The file itself may not exist yet. */
export function canonicalPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const folder = dirname(resolve(path))
    try {
      return join(realpathSync(folder), basename(path))
    } catch (cause) {
      throw new StoreError('STORE_UNCLAIMED', `There is no folder ${folder}.`, { cause })
    }
  }
}

function lock(database: string): DatabaseSync {
  createPrivately(lockPath(database))
  const connection = new DatabaseSync(lockPath(database), { timeout: 0 })
  try {
    connection.exec('BEGIN EXCLUSIVE')
    return connection
  } catch (error) {
    connection.close()
    const failure = toStoreError(error)
    if (!(failure instanceof StoreError) || failure.code !== 'STORE_BUSY') throw failure
    const owner = readOwner(database)
    const who = owner === null ? 'Another process' : `Process ${owner.pid}`
    throw new StoreError(
      'STORE_CLAIMED',
      `${who} is using ${database}. A database serves one process: stop that one first, or talk to it ` +
        'through its control socket.',
      { cause: error },
    )
  }
}

/** The database contains secrets; its write-ahead log inherits its permissions. An existing file keeps its own. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

const lockPath = (database: string): string => `${database}.lock`
const ownerPath = (database: string): string => `${database}.owner`

function writeOwner(database: string): void {
  const draft = `${ownerPath(database)}.new`
  writeFileSync(draft, JSON.stringify(thisProcess()), { mode: 0o600 })
  renameSync(draft, ownerPath(database))
}

function readOwner(database: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(ownerPath(database), 'utf8')) as ProcessIdentity
  } catch {
    return null
  }
}
