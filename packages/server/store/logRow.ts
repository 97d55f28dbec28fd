/**
 * How records are stored in the rows of the log: up to a hundred consecutive records of a commit in one row, one
 * envelope per line, compressed. A replay of packed rows is several times as fast as one of single records.
 */
import { readEnvelope } from './envelope.ts'
import { LOG_DICTIONARIES } from './logDictionary.ts'
import { pack, unpack } from './packed.ts'
import type { LogRecord, Sequence } from './port.ts'

/** Enough to make a row cheap per record, but few enough that a short page does not read much too far. */
export const RECORDS_PER_ROW = 100

/** JSON text has no raw line break. */
const SEPARATOR = '\n'

export type PackedRow = { readonly last: Sequence; readonly count: number; readonly packed: Uint8Array }
/** As stored in the database: rows from before compression have `body` and nothing in `packed`. */
export type RowBody = { readonly packed: Uint8Array | null; readonly body: string }
type StoredRow = RowBody & {
  readonly last: Sequence
  readonly count: number
  readonly chainId: number
  readonly timeMs: number
}

/** Packs envelopes whose first sequence is `first` into rows. */
export function packRecords(first: Sequence, envelopes: readonly string[]): PackedRow[] {
  const rows: PackedRow[] = []
  for (let from = 0; from < envelopes.length; from += RECORDS_PER_ROW) {
    const lines = envelopes.slice(from, from + RECORDS_PER_ROW)
    rows.push({
      last: first + from + lines.length - 1,
      count: lines.length,
      packed: pack(lines.join(SEPARATOR), LOG_DICTIONARIES),
    })
  }
  return rows
}

/** Appends the records of a row that are above `after`, up to `limit` in all. */
export function unpackRecords(records: LogRecord[], row: StoredRow, after: Sequence, limit: number): void {
  const { last, count, chainId, timeMs } = row
  const first = last - count + 1
  const text = textOf(row)
  const lines = text.split(SEPARATOR)
  // Checking the whole row costs a hundredth of checking each line.
  const isAscii = Buffer.byteLength(text) === text.length
  for (let index = Math.max(0, after - first + 1); index < count && records.length < limit; index++) {
    const envelope = lines[index] as string
    const { type, poolIds, tokenIds } = readEnvelope(envelope)
    const bytes = isAscii ? envelope.length : Buffer.byteLength(envelope)
    records.push({ sequence: first + index, chainId, type, poolIds, tokenIds, timeMs, envelope, bytes })
  }
}

/** The envelopes of a row, in order. */
export const linesOf = (row: RowBody): readonly string[] => textOf(row).split(SEPARATOR)

const textOf = ({ packed, body }: RowBody): string =>
  packed === null ? body : unpack(packed, LOG_DICTIONARIES)
