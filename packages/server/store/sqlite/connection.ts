/**
 * One connection to the database file, for one thread. A transaction is synchronous from its first statement to its
 * commit, so two of them never mix on one connection. Only the wait for the write lock is asynchronous: while another
 * thread commits, this one continues with other work.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '../storeError.ts'
import { toStoreError } from './sqliteError.ts'

/** Older versions can lose a commit when two connections meet at the end of the write-ahead log. */
const OLDEST_SQLITE = [3, 51, 3] as const

/** Opening may have to wait for another thread's recovery or migration. */
const OPEN_BUSY_MS = 5_000

/** How long a statement may block its thread for a lock; after that the event loop runs again. */
const STEP_BUSY_MS = 5

/** Pause between two attempts to get the write lock. */
const LOCK_PAUSE_MS = 2

/** A commit takes milliseconds; a wait this long means that a writer hangs. */
const LOCK_LIMIT_MS = 10_000

/**
 * Page size of a new database; an existing one keeps its own. A block changes small rows all over the tables of a chain
 * with many pools, and each rewrites a whole page: larger pages save calls on the long texts of the log but cost more
 * here.
 */
const PAGE_BYTES = 4_096

/**
 * Past this size a commit copies the write-ahead log into the database itself when the checkpointer has not: it may
 * have stopped, or never reach the end of a busy log. After a checkpoint the file is truncated to the same size.
 */
const WAL_LIMIT_BYTES = 64 * 1024 * 1024

/**
 * Pages that a connection keeps. Every chain's thread has a connection of its own, so the memory counts once a chain; a
 * page that is not kept is copied from the system's cache of the file.
 */
const CACHE_KIBIBYTES = 8 * 1024

/** After one of these the content of the device is unknown, so this connection writes no more. */
const FATAL: ReadonlySet<string> = new Set(['STORE_IO', 'STORE_CORRUPT', 'STORE_READ_ONLY'])

export class Connection {
  readonly #database: DatabaseSync
  readonly #begin: StatementSync
  readonly #beginWrite: StatementSync
  readonly #commit: StatementSync
  readonly #rollback: StatementSync
  #failure: StoreError | null = null

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#begin = database.prepare('BEGIN')
    this.#beginWrite = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#rollback = database.prepare('ROLLBACK')
  }

  prepare(sql: string): StatementSync {
    return this.#database.prepare(sql)
  }

  /** For a single statement, which is a read transaction of its own. */
  query<Result>(body: () => Result): Result {
    this.#assertOpen()
    try {
      return body()
    } catch (error) {
      throw toStoreError(error)
    }
  }

  /** All reads of `body` see the same commit. */
  read<Result>(body: () => Result): Result {
    return this.query(() => {
      this.#begin.run()
      return this.#run(body)
    })
  }

  /** When it resolves, the writes of `body` are on the device; when it rejects, none of them is kept. */
  async write<Result>(body: () => Result): Promise<Result> {
    const limit = performance.now() + LOCK_LIMIT_MS
    // No `await` may come between the lock and the body: another call would run inside this transaction.
    while (!this.#tryLock(limit)) await delay(LOCK_PAUSE_MS)
    try {
      return this.#run(body)
    } catch (error) {
      throw this.#noted(error)
    }
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }

  /** True inside a write transaction, false while another connection is in one. */
  #tryLock(limit: number): boolean {
    this.#assertOpen()
    if (this.#failure !== null) {
      const { code, message } = this.#failure
      throw new StoreError(code, `Writing has stopped: ${message}`, { cause: this.#failure })
    }
    try {
      this.#beginWrite.run()
      return true
    } catch (error) {
      const failure = this.#noted(error)
      const isBusy = failure instanceof StoreError && failure.code === 'STORE_BUSY'
      if (isBusy && performance.now() < limit) return false
      throw failure
    }
  }

  #noted(error: unknown): unknown {
    const failure = toStoreError(error)
    if (failure instanceof StoreError && FATAL.has(failure.code)) this.#failure = failure
    return failure
  }

  #run<Result>(body: () => Result): Result {
    try {
      const result = body()
      this.#commit.run()
      return result
    } catch (error) {
      // SQLite has already rolled back after some failures, for example on a full disk.
      if (this.#database.isTransaction) this.#rollback.run()
      throw error
    }
  }

  #assertOpen(): void {
    if (!this.#database.isOpen) throw new StoreError('STORE_CLOSED', 'The store is closed.')
  }
}

/**
 * A database file ready for statements, apart from its schema. `settle` is called before the short lock waits apply.
 */
export function openDatabase(path: string, settle: (database: DatabaseSync) => void): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { timeout: OPEN_BUSY_MS, enableForeignKeyConstraints: true })
    try {
      refuseOldSqlite(database)
      database.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
      useWriteAheadLog(database)
      const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number }
      database.exec(`
        PRAGMA synchronous = FULL;
        PRAGMA wal_autocheckpoint = ${WAL_LIMIT_BYTES / pageBytes};
        PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES};
        PRAGMA cache_size = -${CACHE_KIBIBYTES};
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
      `)
      settle(database)
      database.exec(`PRAGMA busy_timeout = ${STEP_BUSY_MS}`)
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw toStoreError(error)
  }
}

export function refuseOldSqlite(database: Pick<DatabaseSync, 'prepare'>): void {
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string }
  const parts = version.split('.').map(Number)
  for (const [at, least] of OLDEST_SQLITE.entries()) {
    const part = parts[at] ?? 0
    if (part > least) return
    if (part < least)
      throw new StoreError(
        'STORE_ENGINE_TOO_OLD',
        `This Node brings SQLite ${version}; ${OLDEST_SQLITE.join('.')} or newer is needed.`,
      )
  }
}

function useWriteAheadLog(database: DatabaseSync): void {
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() as {
    journal_mode: string
  }
  if (mode !== 'wal')
    throw new StoreError(
      'STORE_IO',
      `The database stays in journal mode ${mode}; it needs a write-ahead log.`,
    )
}
