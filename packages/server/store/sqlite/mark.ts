/**
 * The mark: a small file beside the database with the last sequence that was given out, `{epoch, sequence, checksum}`.
 *
 * SQLite ends a damaged write-ahead log silently at the last commit it can read, and a copy of the file that was put back
 * is as good as any. The mark tells: a head below it means that sequences beyond the head are known outside.
 *
 * It is written in place before a position leaves the store. A killed process leaves the write in the system's cache, so it
 * is synced once a second and costs no commit a sync. After a power failure it may be a second old, while every commit was
 * synced: then it is below the head, which is no loss.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { epochOf } from '../epoch.ts'
import type { Sequence } from '../port.ts'
import { StoreError } from '../storeError.ts'

/** Always written whole, within one sector of any disk. */
const MARK_BYTES = 128
const SYNC_MS = 1_000

/** What the file says; `damaged` is a file that is there and does not hold a mark. */
export type ReadMark = Sequence | 'missing' | 'damaged'

export const markPath = (database: string): string => `${database}.mark`

export function readMark(database: string): ReadMark {
  let text: string
  try {
    text = readFileSync(markPath(database), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing'
    throw toMarkError(error)
  }
  // The process was killed between making the file and writing it: nothing was given out yet.
  if (text === '') return 'missing'
  const found = /^\{"epoch":\d+,"sequence":(\d{1,16}),/.exec(text)
  const sequence = Number(found?.[1])
  return found !== null && text === markText(sequence) ? sequence : 'damaged'
}

/** The mark of a database that this process has claimed, in the thread that claimed it. */
export class MarkFile {
  readonly #file: number
  readonly #timer: NodeJS.Timeout
  #last: Sequence | null = null
  #isSynced = true

  constructor(database: string) {
    this.#file = openSync(markPath(database), constants.O_RDWR | constants.O_CREAT, 0o600)
    this.#timer = setInterval(() => this.#sync(), SYNC_MS)
    this.#timer.unref()
  }

  /** Everything up to here may be known outside from now on. */
  note(sequence: Sequence): void {
    if (this.#last !== null && sequence <= this.#last) return
    try {
      writeSync(this.#file, markText(sequence), 0)
    } catch (error) {
      throw toMarkError(error)
    }
    this.#last = sequence
    this.#isSynced = false
  }

  /** On the device, with its name, when it returns. */
  begin(sequence: Sequence, database: string): void {
    this.note(sequence)
    try {
      fsyncSync(this.#file)
      syncFolder(dirname(database))
    } catch (error) {
      throw toMarkError(error)
    }
    this.#isSynced = true
  }

  close(): void {
    clearInterval(this.#timer)
    try {
      if (!this.#isSynced) fdatasyncSync(this.#file)
    } finally {
      closeSync(this.#file)
    }
  }

  #sync(): void {
    if (this.#isSynced) return
    this.#isSynced = true
    // A device that fails is met by the next commit, and that one reports it.
    fdatasync(this.#file, () => undefined)
  }
}

function markText(sequence: Sequence): string {
  const epoch = epochOf(sequence)
  const checksum = createHash('sha256').update(`${epoch} ${sequence}`).digest('hex').slice(0, 16)
  return `${JSON.stringify({ epoch, sequence, checksum }).padEnd(MARK_BYTES - 1)}\n`
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function toMarkError(error: unknown): StoreError {
  const { code, message } = error as NodeJS.ErrnoException
  return new StoreError(
    code === 'ENOSPC' || code === 'EDQUOT' ? 'STORE_FULL' : 'STORE_IO',
    `The mark beside the database cannot be read or written: ${message}`,
    { cause: error },
  )
}
