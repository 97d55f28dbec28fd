/**
 * The thread behind `startCheckpointer`. It looks how far the write-ahead log has grown, often while it grows and
 * seldom while it rests, and copies what is worth the sync of the database file. Readers and writers go on meanwhile.
 */
import { existsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { StoreError } from '../storeError.ts'
import { toStoreError } from './sqliteError.ts'

/** Pages that change in every block are copied once, not once a block. Well below what makes a commit copy by itself. */
const COPY_BYTES = 16 * 1024 * 1024

/** The next look at a log that grows comes soon; at one that rests, ever later. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [5, 160]

/** Opening may have to wait for another thread's recovery. */
const OPEN_BUSY_MS = 5_000

/** The log restarts once all of it is copied; what was written during one attempt is left for the next. */
const TRIES = 3

/** In pages; both are -1 before there is a log. */
type Progress = { readonly log: number; readonly checkpointed: number }

const port = parentPort
if (port === null) throw new Error('this file is the entry of a worker thread')
const path = workerData as string
const closing = new AbortController()
port.once('message', () => closing.abort())

// A connection this early could meet the one that makes the log, and keep it from that.
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

/** False while there is no space to copy to. A device that fails is not tried again. */
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

/** Ends at once when the thread is to close. */
async function pause(ms: number): Promise<void> {
  await delay(ms, undefined, closing).catch(() => undefined)
}
