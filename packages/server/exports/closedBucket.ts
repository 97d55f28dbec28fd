/**
 * Finds where a file of a closed bucket of time ends. A bucket is closed once a later one has a record, so a file that
 * ends there is never extended afterwards. Commit times of several chains may cross by a moment: the boundary is then
 * still between two records, and every record is in exactly one file.
 */
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'
import { startOf } from './candles.ts'
import type { Range } from './range.ts'

export type ClosedEnd = {
  /** The last record of the bucket; the start of the range while the bucket is open. */
  readonly through: Sequence
  /** When the bucket ends; null without a record. */
  readonly closesAtMs: number | null
}

/** The end of the bucket that the first record of the range is in. */
export async function closedEnd(
  store: Pick<LogStore, 'readLog'>,
  { after, through }: Pick<Range, 'after' | 'through'>,
  intervalMs: number,
): Promise<ClosedEnd> {
  const first = await nextAfter(store, after)
  if (first === null || first.sequence > through) return { through: after, closesAtMs: null }
  const closesAtMs = startOf(first.timeMs, intervalMs) + intervalMs
  const last = await nextAfter(store, through - 1)
  if (last === null || last.timeMs < closesAtMs) return { through: after, closesAtMs }
  // `end` is a record of the bucket, and the first record after `bound` is of a later one.
  let end = first.sequence
  let bound = last.sequence - 1
  while (end < bound) {
    const middle = Math.floor((end + bound) / 2)
    const next = await nextAfter(store, middle)
    if (next !== null && next.timeMs < closesAtMs) end = next.sequence
    else bound = middle
  }
  return { through: end, closesAtMs }
}

async function nextAfter(store: Pick<LogStore, 'readLog'>, after: Sequence): Promise<LogRecord | null> {
  const [record] = await store.readLog(after, 1, null)
  return record ?? null
}

/** When a record was committed; `none` if the log does not have it. */
export async function committedAt(
  store: Pick<LogStore, 'readLog'>,
  sequence: Sequence,
): Promise<number | 'none'> {
  const record = await nextAfter(store, sequence - 1)
  return record?.sequence === sequence ? record.timeMs : 'none'
}
