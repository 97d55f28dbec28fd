/**
 * The thread behind `startCheckpointer`. It checks the size of the write-ahead log, often while it grows and seldom
 * while it is idle, and copies it when there is enough to justify a sync of the database file. Readers and writers
 * continue meanwhile.
 */
import { existsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { StoreError } from '../storeError.ts'
import { toStoreError } from './sqliteError.ts'

/**
 * Large enough that a page that changes in every block is copied once rather than once per block, and well below the
 * size at which a commit copies the log itself.
 */
const COPY_BYTES = 16 * 1024 * 1024

/** Checks come quickly while the log grows, and ever more slowly while it is idle. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [5, 160]

/** Opening may have to wait for another thread's recovery. */
const OPEN_BUSY_MS = 5_000

/** The log restarts once all of it is copied; pages written during one attempt are left for the next. */
const TRIES = 3

/** In pages; both are -1 before there is a log. */
type Progress = { readonly log: number; readonly checkpointed: number }

const port = parentPort
if (port === null) throw new Error('this file is the entry of a worker thread')
const path = workerData as string
const closing = new AbortController()
port.once('message', () => closing.abort())

// A connection this early could interfere with the one that creates the log.
while (!existsSync(`${path}-wal`) && !closing.signal.aborted) await pause(LONGEST_PAUSE_MS)
if (!closing.signal.aborted) await copyUntilClosed()

async function copyUntilClosed(): Promise<void> {
  const database = new DatabaseSync(path, { timeout: OPEN_BUSY_MS })
  try {
    database.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0')
    const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number }
    const look = database.prepare('PRAGMA wal_checkpoint(NOOP)')
    const copy = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
    let seen = 0
    for (let wait = LONGEST_PAUSE_MS; !closing.signal.aborted; await pause(wait)) {
      const { log } = look.get() as Progress
      wait = log === seen ? Math.min(2 * wait, LONGEST_PAUSE_MS) : SHORTEST_PAUSE_MS
      seen = log
      if (log * pageBytes >= COPY_BYTES && !copyAll(copy)) wait = LONGEST_PAUSE_MS
    }
  } finally {
    database.close()
  }
}

/** False while there is no space for the copy. A device that fails is not tried again. */
function copyAll(copy: StatementSync): boolean {
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const { log, checkpointed } = copy.get() as Progress
      if (checkpointed === log) break
    }
    return true
  } catch (error) {
    const failure = toStoreError(error)
    if (failure instanceof StoreError && failure.retryable) return false
    throw failure
  }
}

/** Ends at once when the thread must close. */
async function pause(ms: number): Promise<void> {
  await delay(ms, undefined, closing).catch(() => undefined)
}
