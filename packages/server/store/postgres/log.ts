/**
 * The log of all chains. The head row hands out sequences. A transaction locks it after all its other work and keeps it
 * until it is durable, so sequences are contiguous and in commit order, and a reader that sees one sees all below it.
 */
import type { Lease } from '../cluster.ts'
import { epochStart, lastSequence } from '../epoch.ts'
import { packRecords, RECORDS_PER_ROW, type RowBody, unpackRecords } from '../logRow.ts'
import type { LogBounds, LogRecord, LogStore, Sequence } from '../port.ts'
import { rowLimit } from '../rowLimit.ts'
import { StoreError } from '../storeError.ts'
import type { Claimed } from './claimed.ts'
import { type Connection, type Query, statement } from './connection.ts'

/** The sequences of one commit; `first` is null and `last` the head when it has no records. */
export type Appended = { readonly first: Sequence | null; readonly last: Sequence }

type Head = { readonly epoch: number; readonly next: Sequence; readonly written: number }

/** The server's timeline: it changes when a replica is promoted. */
export const TIMELINE = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)'

const TAKE_HEAD = statement(`
  UPDATE head SET next = next + $1, written = written + $1
  WHERE generation = $2 AND timeline = ${TIMELINE}
    AND ($3::bigint IS NULL OR $4 = (SELECT generation FROM seat WHERE chain_id = $3))
  RETURNING epoch, next - $1 AS next, written - $1 AS written`)
const WHY_NOT = statement(`SELECT generation, timeline, ${TIMELINE} AS now FROM head`)
const INSERT = statement(`
  INSERT INTO log (last, count, written, chain_id, at_ms, body, packed)
  SELECT last, count, written, $4, $5, '', packed
  FROM unnest($1::bigint[], $2::int[], $3::bigint[], $6::bytea[]) AS row (last, count, written, packed)`)

/** Who may commit: a process of this claim and, when several share the database, the holder of the chain's lease. */
export type Fence = { readonly generation: number; readonly lease: Lease | null }

/** The fence for a commit of this chain. Without a lease for it, generation 0 is used, which is never granted. */
export const fenceOf = ({ generation, isShared }: Claimed, lease: Lease | null, chainId: number): Fence => ({
  generation,
  lease: isShared ? { chainId, generation: lease?.chainId === chainId ? lease.generation : 0 } : null,
})

/**
 * Call inside a write transaction, after all work that needs no sequence. A writer whose claim or lease was taken over,
 * or whose server went back in time, gets no sequence and so commits nothing.
 */
export async function takeSequences(query: Query, fence: Fence, count: number): Promise<Head> {
  const { generation, lease } = fence
  const [head] = await query<Head>(TAKE_HEAD, [count, generation, lease?.chainId, lease?.generation])
  if (head === undefined) throw await fenced(query, fence)
  if (count > 0) lastSequence(head.epoch, head.next, count)
  return head
}

export async function writeLog(
  query: Query,
  head: Head,
  chainId: number,
  atMs: number,
  envelopes: readonly string[],
): Promise<Appended> {
  if (envelopes.length === 0) return { first: null, last: head.next - 1 }
  const rows = packRecords(head.next, envelopes)
  await query(INSERT, [
    rows.map(({ last }) => last),
    rows.map(({ count }) => count),
    rows.map(({ last }) => head.written + last - head.next + 1),
    chainId,
    atMs,
    rows.map(({ packed }) => packed),
  ])
  return { first: head.next, last: head.next + envelopes.length - 1 }
}

const BOUNDS = statement(`
  SELECT epoch, next, (SELECT last - count + 1 FROM log ORDER BY last LIMIT 1) AS first FROM head`)
export const HEAD = statement('SELECT next - 1 AS head FROM head')

type Row = RowBody & { last: Sequence; count: number; chain_id: number; at_ms: number }

/** Reads rows until they contain enough records; the first one may begin below the requested sequence. */
const page = (where: string) =>
  statement(`
    SELECT last, count, chain_id, at_ms, body, packed FROM (
      SELECT last, count, chain_id, at_ms, body, packed,
        sum(count) OVER (ORDER BY last ROWS UNBOUNDED PRECEDING) - count AS before
      FROM (SELECT * FROM log WHERE ${where} last > $1 ORDER BY last LIMIT $2) AS candidate
    ) AS counted
    WHERE before < $2::bigint + ${RECORDS_PER_ROW}
    ORDER BY last`)
const PAGE_OF_ALL = page('')
const PAGE_OF_CHAIN = page('chain_id = $3 AND')

export function logStore(connection: Connection): LogStore {
  return {
    readBounds: () => readBounds(connection.query),

    async readLog(after, limit, chainId) {
      const most = rowLimit(limit)
      const rows =
        chainId === null
          ? await connection.query<Row>(PAGE_OF_ALL, [after, most])
          : await connection.query<Row>(PAGE_OF_CHAIN, [after, most, chainId])
      const records: LogRecord[] = []
      for (const { chain_id, at_ms, ...row } of rows)
        unpackRecords(records, { ...row, chainId: chain_id, timeMs: at_ms }, after, most)
      return records
    },
  }
}

export async function readBounds(query: Query): Promise<LogBounds> {
  const [row] = await query<{ epoch: number; next: Sequence; first: Sequence | null }>(BOUNDS)
  const { epoch, next, first } = row as { epoch: number; next: Sequence; first: Sequence | null }
  // Records of an earlier epoch are kept for history, but no cursor can reach them.
  return { epoch, oldest: Math.max(first ?? next, epochStart(epoch) + 1), head: next - 1 }
}

async function fenced(query: Query, { generation, lease }: Fence): Promise<StoreError> {
  const [head] = await query<{ generation: number; timeline: string; now: string }>(WHY_NOT)
  if (head?.generation !== generation)
    return new StoreError(
      'STORE_FENCED',
      `This writer has claim ${generation}, and the database is at claim ${head?.generation ?? 'none'}: another process took over.`,
    )
  if (head.timeline === head.now)
    return new StoreError(
      'STORE_FENCED',
      `This writer has turn ${lease?.generation ?? 'none'} of chain ${lease?.chainId ?? 'none'}: another process took over.`,
    )
  return new StoreError(
    'STORE_FENCED',
    `The server went from timeline ${head.timeline} to ${head.now}, so commits may be missing: a new epoch must begin first.`,
  )
}
