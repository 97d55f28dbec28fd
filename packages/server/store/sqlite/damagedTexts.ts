/**
 * Finds texts of the database that are damaged: no longer UTF-8, or no longer JSON. SQLite checks the structure of its
 * pages but not the content of rows, so its own check misses a flipped byte inside a text.
 */
import { isUtf8 } from 'node:buffer'
import type { DatabaseSync } from 'node:sqlite'
import { unpackBody } from '../eventBody.ts'
import { damageIn as damageInPacked } from '../packed.ts'
import { pageOf } from './rowPlace.ts'
import { toStoreError } from './sqliteError.ts'

/** Every column of JSON, and how its row is identified. The text of `log` is one JSON value per line. */
const TEXTS = [
  { table: 'log', column: 'body', row: `'sequences ' || (last - count + 1) || ' to ' || last` },
  { table: 'log', column: 'packed', row: `'sequences ' || (last - count + 1) || ' to ' || last` },
  { table: 'kept_state', column: 'packed', row: `'states up to sequence ' || last` },
  { table: 'entity', column: 'text', row: `'chain ' || chain_id || ', ' || key` },
  { table: 'pool_state', column: 'state', row: `'chain ' || chain_id || ', pool ' || pool_address` },
  { table: 'token_price', column: 'price', row: `'chain ' || chain_id || ', token ' || token_address` },
  { table: 'token_quote', column: 'quote', row: `'chain ' || chain_id || ', token ' || token_address` },
  { table: 'quote_book', column: 'packed', row: `'chain ' || chain_id || ', step ' || step` },
  { table: 'feed_health', column: 'health', row: `'chain ' || chain_id` },
  { table: 'pool_event', column: 'body', row: `'chain ' || chain_id || ', event ' || id` },
  { table: 'input', column: 'text', row: `'chain ' || chain_id || ', step ' || step` },
] as const

type Text = (typeof TEXTS)[number]
type Row = { readonly id: number; readonly row: string | null; readonly bytes: Uint8Array | null }

/** `path` is the file behind `database`. */
export function* damagedTexts(database: DatabaseSync, path: string): Generator<string> {
  const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number }
  for (const text of TEXTS)
    try {
      for (const { id, row, bytes } of rowsOf(database, text)) {
        const at = bytes === null ? null : damageIn(Buffer.from(bytes), text)
        if (at === null) continue
        const page = pageOf(path, pageBytes, { ...placeIn(database, text), rowId: id }, at)
        const where = page === null ? 'an unknown page' : `page ${page}`
        yield `table ${text.table}, ${where}: the ${text.column === 'packed' ? 'body' : text.column} of ${row ?? `row ${id}`} is damaged`
      }
    } catch (error) {
      // A damaged page on the way to the row, which SQLite's own check has reported.
      const failure = toStoreError(error)
      yield `table ${text.table}: cannot be read to its end (${failure instanceof Error ? failure.message : String(failure)})`
    }
}

function rowsOf(database: DatabaseSync, { table, column, row }: Text): Iterable<Row> {
  return database
    .prepare(
      `SELECT rowid AS id, ${row} AS row, CAST(${column} AS BLOB) AS bytes FROM ${table} ORDER BY rowid`,
    )
    .iterate() as unknown as Iterable<Row>
}

function placeIn(database: DatabaseSync, { table, column }: Text): { root: number; column: number } {
  const { root } = database
    .prepare(`SELECT rootpage AS root FROM sqlite_schema WHERE type = 'table' AND name = ?`)
    .get(table) as { root: number }
  const columns = database.prepare(`SELECT name FROM pragma_table_info(?) ORDER BY cid`).all(table) as {
    name: string
  }[]
  return { root, column: columns.findIndex(({ name }) => name === column) }
}

/** The offset of the first byte that is certainly wrong; null for a text that may be intact. */
function damageIn(bytes: Buffer, { table, column }: Text): number | null {
  if (column === 'packed') return damageInPacked(bytes)
  const text = bytes.toString('utf8')
  if (!isUtf8(bytes)) return firstDifference(bytes, Buffer.from(text))
  if (table === 'log' && text === '') return null
  const whole = table === 'pool_event' ? unpackBody(text) : text
  // The head of an event is stored shorter than it is parsed: damage in it is found at its start.
  let at = text.length - whole.length
  for (const line of table === 'log' ? text.split('\n') : [whole]) {
    try {
      JSON.parse(line)
    } catch (error) {
      const place = /position (\d+)/.exec((error as Error).message)?.[1]
      return Math.max(0, at + Buffer.byteLength(line.slice(0, Number(place ?? 0))))
    }
    at += Buffer.byteLength(line) + 1
  }
  return null
}

function firstDifference(a: Buffer, b: Buffer): number {
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return at
  return a.length
}
