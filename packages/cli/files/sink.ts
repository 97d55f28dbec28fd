/**
 * `assay export --folder`: one file for each closed bucket of commit time. Asks for the bucket after the last file until
 * none is closed; with `--follow` it waits for the next one. Every record of the log is in exactly one file, whatever
 * ends the process.
 */
import { createWriteStream, rmSync } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { EXIT, Failure } from '../exit.ts'
import type { ServiceChoice } from '../options.ts'
import { print } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import { clockTime, duration, time } from '../terminal/words.ts'
import { type Content, ExportFolder, type Piece } from './folder.ts'
import { type ExportAnswer, ExportRefusal, numberIn, requestExport } from './request.ts'
import { assertSameLog, explained } from './sameLog.ts'

export const EVERY_MS = { '1m': 60_000, '5m': 300_000, '1h': 3_600_000, '1d': 86_400_000 } as const
export type Every = keyof typeof EVERY_MS

export type SinkOptions = ServiceChoice & {
  readonly folder: string
  readonly every?: Every
  readonly follow?: boolean
  readonly after?: number
}

/** Between requests while a bucket should be closed and no later record has been published; doubles up to the most. */
const LEAST_WAIT_MS = 5000
const MOST_WAIT_MS = 60_000

export async function exportToFolder(content: Content, options: SinkOptions): Promise<void> {
  const folder = ExportFolder.open(options.folder, content)
  if (folder.read() !== null && options.after !== undefined)
    throw new Failure(
      `--after is for a new folder, and ${folder.path} ends at record ${folder.read()?.last}: leave it out to continue there`,
      EXIT.misused,
    )
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  if (options.follow === true) process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    await new Sink(folder, content, options, stopping.signal).run()
  } catch (failure) {
    if (!stopping.signal.aborted) throw failure
  }
  const kept = folder.read()
  const words =
    kept === null
      ? 'no bucket is closed yet'
      : `records ${kept.first} to ${kept.last}. Run it again to continue.`
  if (options.json !== true) print(options, null, () => `${folder.path}: ${words}`)
}

class Sink {
  readonly #folder: ExportFolder
  readonly #content: Content
  readonly #options: SinkOptions
  readonly #signal: AbortSignal
  readonly #every: Every
  #waits = 0
  #announced = ''

  constructor(folder: ExportFolder, content: Content, options: SinkOptions, signal: AbortSignal) {
    this.#folder = folder
    this.#content = content
    this.#options = options
    this.#signal = signal
    this.#every = options.every ?? '1h'
  }

  /** Until no bucket is closed; with `--follow` until it is stopped. */
  async run(): Promise<void> {
    for (;;) {
      try {
        const closesAtMs = await this.#next()
        if (closesAtMs === 'written') this.#waits = 0
        else if (this.#options.follow !== true) return
        else await this.#waitUntil(closesAtMs)
      } catch (failure) {
        await this.#retryAfter(failure)
      }
    }
  }

  /** Writes the next bucket; if it is still open, the time when it ends, which is null without a record. */
  async #next(): Promise<'written' | number | null> {
    const { kind, format, chain } = this.#content
    const kept = this.#folder.read()
    const after = kept?.last ?? this.#options.after
    const query = new URLSearchParams({ kind, format, closed: this.#every })
    if (after !== undefined) query.set('after_sequence', String(after))
    if (chain !== null) query.set('chain_id', String(chain))
    const answer = await requestExport(this.#options, query, this.#signal).catch(async (failure: unknown) => {
      if (kept === null) throw failure
      throw await explained(failure, this.#options, { folder: this.#folder, kind, last: kept.last })
    })
    if (kept !== null) assertSameLog(answer, this.#folder, kept)
    const piece = { first: numberIn(answer, 'after-sequence') + 1, last: numberIn(answer, 'to-sequence') }
    if (piece.last < piece.first) {
      // Read to its end, an empty file keeps the connection.
      await answer.arrayBuffer()
      return answer.headers.has('assay-closes-at-ms') ? numberIn(answer, 'closes-at-ms') : null
    }
    const bytes = await this.#write(answer, piece)
    this.#tell(piece, numberIn(answer, 'to-committed-ms'), bytes)
    return 'written'
  }

  async #write(answer: ExportAnswer, piece: Piece): Promise<number> {
    const part = this.#folder.partOf(piece)
    const progress = new Progress(`Exporting ${this.#folder.nameOf(piece)}`).tick()
    let bytes = 0
    const counted = new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length
        progress.detail(`${(bytes / 2 ** 20).toFixed(1)} MiB`)
        done(null, chunk)
      },
    })
    try {
      await pipeline(
        Readable.fromWeb(answer.body),
        counted,
        createWriteStream(part, { flags: 'wx', flush: true }),
        { signal: this.#signal },
      )
      this.#folder.accept(piece, numberIn(answer, 'to-committed-ms'))
    } catch (failure) {
      const { code } = failure as NodeJS.ErrnoException
      if (code === 'EEXIST' || code === 'ENOENT')
        throw new Failure(`${part}: another export writes to this folder; run one at a time`)
      rmSync(part, { force: true })
      throw cutAt(failure, this.#folder.path, bytes)
    } finally {
      progress.end()
    }
    return bytes
  }

  #tell(piece: Piece, committedAtMs: number, bytes: number): void {
    const file = this.#folder.nameOf(piece)
    const { first: first_sequence, last: last_sequence } = piece
    print(
      this.#options,
      { file, first_sequence, last_sequence, last_committed_at_ms: committedAtMs, bytes },
      () => `${file}: committed until ${time(committedAtMs)} UTC, ${bytes} bytes`,
    )
  }

  async #waitUntil(closesAtMs: number | null): Promise<void> {
    const aheadMs = (closesAtMs ?? 0) - Date.now()
    if (aheadMs > 0) this.#waits = 0
    // A clock that is wrong must not put the next file off for longer than a bucket.
    const waitMs = aheadMs > 0 ? Math.min(aheadMs, EVERY_MS[this.#every]) : this.#backOffMs()
    this.#announce(
      closesAtMs === null
        ? 'waiting for the next record'
        : `waiting for a record after ${clockTime(closesAtMs)} UTC, when the present file ends`,
    )
    await pause(waitMs, undefined, { signal: this.#signal })
  }

  /** Rethrows what another attempt cannot mend, and without `--follow` everything but a spent quota. */
  async #retryAfter(failure: unknown): Promise<void> {
    if (this.#signal.aborted || !(failure instanceof ExportRefusal)) throw failure
    const { status, retryAfterMs, message } = failure
    const isPassing = status === null || status === 429 || status >= 500
    if (!isPassing || (status !== 429 && this.#options.follow !== true)) throw failure
    const waitMs = retryAfterMs ?? this.#backOffMs()
    this.#announce(`${message}; trying again in ${duration(waitMs)}`)
    await pause(waitMs, undefined, { signal: this.#signal })
  }

  #backOffMs(): number {
    return Math.min(MOST_WAIT_MS, LEAST_WAIT_MS * 2 ** Math.min(this.#waits++, 10))
  }

  /** On standard error, and nothing twice in a row. */
  #announce(words: string): void {
    if (words !== this.#announced) process.stderr.write(`${words}\n`)
    this.#announced = words
  }
}

/** A failure of the disk stays; one of the connection may pass. */
function cutAt(failure: unknown, path: string, bytes: number): unknown {
  if (failure instanceof Failure) return failure
  const { code = '', syscall } = failure as NodeJS.ErrnoException
  if (['open', 'write', 'fsync', 'close', 'rename'].includes(syscall ?? ''))
    return new Failure(
      `${path} cannot be written (${code}): make room or check the owner, then run the same command again to resume`,
    )
  const words = failure instanceof Error ? failure.message : String(failure)
  return new ExportRefusal(
    `the export was cut after ${bytes} bytes (${words}); run the same command again to resume`,
    EXIT.failed,
    null,
  )
}
