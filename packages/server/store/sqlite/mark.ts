/**
 * The mark: a small file beside the database with the last sequence that was handed out, `{epoch, sequence, checksum}`.
 * SQLite silently ends a damaged write-ahead log at the last commit it can read, and cannot recognise an old copy of
 * the file. The mark can: a head below it means that clients know sequences beyond the head.
 *
 * It is written in place before a position leaves the store. The write survives a killed process in the system's cache,
 * so the file is synced only once a second and adds no sync to a commit. After a power failure it may be a second old
 * while every commit was synced: then it is below the head, which is no loss.
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

/** The content of the file; `damaged` means that it exists but contains no valid mark. */
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
  // The process was killed between creating the file and writing it, so nothing had been handed out yet.
  if (text === '') return 'missing'
  const found = /^\{"epoch":\d+,"sequence":(\d{1,16}),/.exec(text)
  const sequence = Number(found?.[1])
  return found !== null && text === markText(sequence) ? sequence : 'damaged'
}

/** The mark of a database that this process has claimed, used in the claiming thread. */
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

  /** From now on, clients may know every sequence up to this one. */
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

  /** On return, the mark and the name of its file are on the device. */
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
    // If the device fails, the next commit fails too and reports it.
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
    `The mark of the database cannot be read or written: ${message}`,
    { cause: error },
  )
}
