/**
 * The log of all chains. The head row hands out sequences inside the commit that appends, so they are contiguous, in
 * commit order, and never visible before they are durable.
 */
import { epochStart, lastSequence } from '../epoch.ts'
import { linesOf, packRecords, type RowBody, unpackRecords } from '../logRow.ts'
import type { LogBounds, LogRecord, LogStore, Sequence } from '../port.ts'
import type { Connection } from './connection.ts'
import { rowLimit } from '../rowLimit.ts'

type Head = { readonly epoch: number; readonly next: Sequence; readonly written: number }
type Row = [
  last: Sequence,
  count: number,
  chainId: number,
  atMs: number,
  body: string,
  packed: Uint8Array | null,
]

/** The sequences of one commit; `first` is null and `last` the head when it has no records. */
export type Appended = { readonly first: Sequence | null; readonly last: Sequence }

export type LogWriter = {
  /** Call inside a write transaction. `seal` makes the envelope of the record at an index, in ascending order. */
  append(
    chainId: number,
    atMs: number,
    count: number,
    seal: (index: number, sequence: Sequence) => string,
  ): Appended
}

export function logWriter(connection: Connection): LogWriter {
  const readHead = connection.prepare('SELECT epoch, next, written FROM head')
  const advance = connection.prepare('UPDATE head SET next = ?, written = ?')
  const insert = connection.prepare(
    "INSERT INTO log (last, count, written, chain_id, at_ms, body, packed) VALUES (?, ?, ?, ?, ?, '', ?)",
  )
  return {
    append(chainId, atMs, count, seal) {
      const { epoch, next, written } = readHead.get() as Head
      if (count === 0) return { first: null, last: next - 1 }
      const last = lastSequence(epoch, next, count)
      const envelopes: string[] = []
      for (let index = 0; index < count; index++) envelopes.push(seal(index, next + index))
      for (const row of packRecords(next, envelopes))
        insert.run(row.last, row.count, written + row.last - next + 1, chainId, atMs, row.packed)
      advance.run(last + 1, written + count)
      return { first: next, last }
    },
  }
}

export function logStore(connection: Connection): LogStore {
  const readBounds = boundsReader(connection)
  const columns = 'last, count, chain_id, at_ms, body, packed'
  const pageOfAll = connection.prepare(`SELECT ${columns} FROM log WHERE last > ? ORDER BY last LIMIT ?`)
  const pageOfChain = connection.prepare(
    `SELECT ${columns} FROM log WHERE chain_id = ? AND last > ? ORDER BY last LIMIT ?`,
  )
  pageOfAll.setReturnArrays(true)
  pageOfChain.setReturnArrays(true)

  return {
    readBounds: async () => connection.read(readBounds),

    async readLog(after, limit, chainId) {
      const most = rowLimit(limit)
      return connection.query(() => {
        const rows =
          chainId === null ? pageOfAll.iterate(after, most) : pageOfChain.iterate(chainId, after, most)
        const records: LogRecord[] = []
        for (const [last, count, chain, timeMs, body, packed] of rows as unknown as Iterable<Row>) {
          unpackRecords(records, { last, count, chainId: chain, timeMs, body, packed }, after, most)
          if (records.length >= most) break
        }
        return records
      })
    },
  }
}

/** Call inside a transaction: the envelope at a sequence; null when the log no longer contains it. */
export function recordReader(connection: Connection): (sequence: Sequence) => string | null {
  const rowOf = connection.prepare(
    'SELECT last - count + 1 AS first, body, packed FROM log WHERE last >= ? ORDER BY last LIMIT 1',
  )
  // Records of a page are close together, often in the same row.
  let read: { readonly first: Sequence; readonly lines: readonly string[] } | null = null
  return sequence => {
    if (read === null || sequence < read.first || sequence >= read.first + read.lines.length) {
      const found = rowOf.get(sequence) as (RowBody & { first: Sequence }) | undefined
      if (found === undefined || found.first > sequence) return null
      read = { first: found.first, lines: linesOf(found) }
    }
    return read.lines[sequence - read.first] as string
  }
}

/** Call inside a transaction. An empty log begins at the sequence of its next record. */
export function boundsReader(connection: Connection): () => LogBounds {
  const readHead = connection.prepare('SELECT epoch, next, written FROM head')
  const readOldest = connection.prepare('SELECT last - count + 1 AS first FROM log ORDER BY last LIMIT 1')
  return () => {
    const { epoch, next } = readHead.get() as Head
    const oldest = readOldest.get() as { first: Sequence } | undefined
    // Records of an earlier epoch are kept for history, but no cursor can reach them.
    return { epoch, oldest: Math.max(oldest?.first ?? next, epochStart(epoch) + 1), head: next - 1 }
  }
}

/** Only the head of the log, for reads that must state which commit they show. */
export function headReader(connection: Connection): () => Sequence {
  const readHead = connection.prepare('SELECT next - 1 AS head FROM head')
  return () => (readHead.get() as { head: Sequence }).head
}
