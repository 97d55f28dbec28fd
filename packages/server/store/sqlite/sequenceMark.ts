/**
 * Maintains the mark of a claimed database. The first time it is opened, the log is compared with the mark; after that,
 * every result of the store that may contain a position updates the mark before the caller receives it.
 */
import { checkStore } from '../check.ts'
import { epochOf, epochStart } from '../epoch.ts'
import { auditOf, type Loss, type OnLoss } from '../loss.ts'
import type { LogBounds, Sequence } from '../port.ts'
import { StoreError } from '../storeError.ts'
import type { Connection } from './connection.ts'
import { integrityOf } from './integrity.ts'
import { boundsReader, headReader, logStore } from './log.ts'
import { MarkFile, type ReadMark, readMark } from './mark.ts'
import { snapshotStore } from './snapshotStore.ts'

/** In the table `meta`: this database has had a mark, so a missing one means a loss. */
const FLAG = 'store/mark'

type Calls = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>

/** By the canonical path of the database. Only the thread that claimed it has an entry. */
const marks = new Map<string, SequenceMark>()

/** The returned function undoes it. */
export function keepMark(database: string, onLoss: OnLoss): () => void {
  const mark = new SequenceMark(database, onLoss)
  marks.set(database, mark)
  return () => {
    marks.delete(database)
    mark.close()
  }
}

/** Null in other threads: the claiming thread hands out what they commit. */
export const markOf = (database: string): SequenceMark | null => marks.get(database) ?? null

export class SequenceMark {
  readonly #database: string
  readonly #onLoss: OnLoss
  #file: MarkFile | null = null

  constructor(database: string, onLoss: OnLoss) {
    this.#database = database
    this.#onLoss = onLoss
  }

  /** Runs once, before anything is read for clients or committed. */
  async settle(connection: Connection, nowMs: number): Promise<void> {
    if (this.#file !== null) return
    const mark = readMark(this.#database)
    const readBounds = boundsReader(connection)
    const hadMark = connection.query(() => isFlagged(connection))
    const loss = lossOf(connection.read(readBounds), mark, hadMark)
    if (loss?.why === 'BEHIND') await this.#refuseTorn(connection, loss)
    if (loss !== null) await beginEpoch(connection, loss, nowMs)
    const { head } = connection.read(readBounds)
    const file = new MarkFile(this.#database)
    this.#file = file
    file.begin(head, this.#database)
    // Set after the mark is on the device, because a flag without a mark means a loss.
    if (!hadMark) await connection.write(() => flag(connection))
    if (loss !== null) this.#onLoss(loss)
  }

  /** Wraps the methods: the head of the log is recorded before each result reaches the caller. */
  noting<Methods extends Calls>(methods: Methods, connection: Connection): Methods {
    const readHead = headReader(connection)
    const noted = Object.entries(methods).map(([name, method]) => [
      name,
      async (...args: never[]) => {
        const answer = await method(...args)
        this.#file?.note(connection.query(readHead))
        return answer
      },
    ])
    return Object.fromEntries(noted) as Methods
  }

  /**
   * Pages that a checkpoint has copied are newer than the rest of a damaged write-ahead log: together they are a state
   * that never existed. Only in this case does a start read the whole log.
   */
  async #refuseTorn(connection: Connection, { head, mark }: Loss): Promise<void> {
    const { faults } = await checkStore({
      ...logStore(connection),
      ...snapshotStore(connection),
      readIntegrity: async () => connection.query(() => integrityOf(connection)),
      readMark: async () => null,
      close: async () => undefined,
    })
    if (faults.length === 0) return
    throw new StoreError(
      'STORE_CORRUPT',
      `${this.#database} lost its end (the log ends at ${head}, sequences up to ${mark} were issued) and is not ` +
        `consistent: ${faults[0]}. Restore a backup with \`assay db restore\`, or move the file away and start without it.`,
    )
  }

  close(): void {
    this.#file?.close()
    this.#file = null
  }
}

/** Null when the log reaches the mark, or never had one. */
export function lossOf({ epoch, head }: LogBounds, mark: ReadMark, hadMark: boolean): Loss | null {
  if (mark === 'missing')
    return hadMark ? { why: 'MARK_MISSING', head, mark: null, lost: null, epoch: epoch + 1 } : null
  if (mark === 'damaged') return { why: 'MARK_DAMAGED', head, mark: null, lost: null, epoch: epoch + 1 }
  if (mark <= head) return null
  const markEpoch = epochOf(mark)
  // The lengths of the epochs in between are unknown.
  const lost = mark - Math.max(head, epochStart(markEpoch))
  return { why: 'BEHIND', head, mark, lost, epoch: markEpoch + 1 }
}

export function isFlagged(connection: Connection): boolean {
  return connection.prepare('SELECT 1 FROM meta WHERE name = ?').get(FLAG) !== undefined
}

function flag(connection: Connection): void {
  connection
    .prepare('INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING')
    .run(FLAG, Buffer.from('1'))
}

async function beginEpoch(connection: Connection, loss: Loss, nowMs: number): Promise<void> {
  const setHead = connection.prepare('UPDATE head SET epoch = ?, next = ?')
  const insertAudit = connection.prepare(
    'INSERT INTO audit (at_ms, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?)',
  )
  const { atMs, actor, action, subject, detail } = auditOf(loss, nowMs)
  await connection.write(() => {
    setHead.run(loss.epoch, epochStart(loss.epoch) + 1)
    insertAudit.run(atMs, actor, action, subject, detail)
  })
}

/** Writes a mark for a database that was just restored, so that its first start finds no loss. */
export function markRestored(database: string, head: Sequence): void {
  const file = new MarkFile(database)
  file.begin(head, database)
  file.close()
}
