/**
 * Reads a range of the log page by page, at the consumer's pace. It ends at the end of the log at the time of the
 * request; the next export begins there. A missing record in the middle fails the export: a truncated file must not
 * look complete.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { epochOf } from '../store/epoch.ts'
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'
import type { Row, Table } from './table.ts'

export type Range = {
  /** Records above this sequence. */
  readonly after: Sequence
  /** Up to and including this one. */
  readonly through: Sequence
  readonly chainId: number | null
  /** Committed at or after this time, and before `untilMs`; null is no bound. */
  readonly fromMs: number | null
  readonly toMs: number | null
}

const PAGE = 1000

/** The rows of each page, which may be none. */
export async function* rowsOf(
  store: Pick<LogStore, 'readLog'>,
  table: Table,
  range: Range,
): AsyncGenerator<Row[]> {
  for await (const page of pagesOf(store, range)) {
    const rows: Row[] = []
    for (const record of page) {
      if (!isIn(range, record)) continue
      const row = table.rowOf(record)
      if (row !== null) rows.push(row)
    }
    yield rows
  }
}

/** The records themselves, of all chains. */
export async function* pagesOf(
  store: Pick<LogStore, 'readLog'>,
  range: Pick<Range, 'after' | 'through'>,
): AsyncGenerator<readonly LogRecord[]> {
  for (let { after } = range; after < range.through; ) {
    const page = await store.readLog(after, Math.min(PAGE, range.through - after), null)
    assertWhole(page, after, range.through)
    yield page.filter(({ sequence }) => sequence <= range.through)
    after = (page.at(-1) as LogRecord).sequence
    await nextTurn()
  }
}

/** Asserts that the log of all chains has no gap within an epoch. */
function assertWhole(page: readonly LogRecord[], after: Sequence, through: Sequence): void {
  const first = page[0]
  if (first === undefined)
    throw new Error(`the log has no records after ${after}, and ${through} was promised`)
  if (epochOf(first.sequence) === epochOf(after) && first.sequence !== after + 1)
    throw new Error(`records ${after + 1} to ${first.sequence - 1} are no longer retained`)
}

const isIn = ({ chainId, fromMs, toMs }: Range, record: LogRecord): boolean =>
  (chainId === null || record.chainId === chainId) &&
  (fromMs === null || record.timeMs >= fromMs) &&
  (toMs === null || record.timeMs < toMs)
