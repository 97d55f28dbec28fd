/**
 * Compact states of token records that outlive their rows of the log, while history is kept longer than the log. Like
 * the log, many share a row, one per line behind its sequence, compressed.
 */
import { envelopeState, isOfToken } from './envelope.ts'
import { LOG_DICTIONARIES } from './logDictionary.ts'
import { RECORDS_PER_ROW, type RowBody, unpackRecords } from './logRow.ts'
import { pack, unpack } from './packed.ts'
import type { LogRecord, Sequence } from './port.ts'

/** A row of the log that retention is about to delete. */
export type DeletedRow = RowBody & {
  readonly last: Sequence
  readonly count: number
  readonly chainId: number
  readonly timeMs: number
}

/** `timeMs` is when the last of its states was committed. */
export type KeptRow = {
  readonly last: Sequence
  readonly count: number
  readonly timeMs: number
  readonly packed: Uint8Array
}

/** The rows that take the place of deleted ones; none for records that are not about tokens. */
export function keptRows(deleted: readonly DeletedRow[]): KeptRow[] {
  const states: LogRecord[] = []
  for (const row of deleted) {
    const records: LogRecord[] = []
    unpackRecords(records, row, row.last - row.count, row.count)
    states.push(...records.filter(isOfToken))
  }
  const kept: KeptRow[] = []
  for (let from = 0; from < states.length; from += RECORDS_PER_ROW) {
    const together = states.slice(from, from + RECORDS_PER_ROW)
    const { sequence: last, timeMs } = together.at(-1) as LogRecord
    const lines = together.map(({ sequence, envelope }) => `${sequence} ${envelopeState(envelope)}`)
    kept.push({ last, count: together.length, timeMs, packed: pack(lines.join('\n'), LOG_DICTIONARIES) })
  }
  return kept
}

/** The states of a row by sequence. */
export function statesIn(packed: Uint8Array): ReadonlyMap<Sequence, string> {
  const lines = unpack(packed, LOG_DICTIONARIES).split('\n')
  return new Map(
    lines.map(line => {
      const end = line.indexOf(' ')
      return [Number(line.slice(0, end)), line.slice(end + 1)]
    }),
  )
}
