/**
 * Encodes rows as the bytes of a file. CSV and NDJSON may be cut after any row; Parquet is written in closed row
 * groups.
 */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Cell, Column, Row } from './table.ts'

export const FORMATS = ['csv', 'ndjson', 'parquet'] as const
export type Format = (typeof FORMATS)[number]

export const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
}

export type FileOptions = {
  readonly columns: readonly Column[]
  /** Whether a CSV begins with the column names: a continued one does not. */
  readonly hasHeader: boolean
  /** Stored in the file itself if its format supports it. */
  readonly position: Readonly<Record<string, string>>
}

export function bytesOf(
  format: Format,
  pages: AsyncIterable<readonly Row[]>,
  options: FileOptions,
): AsyncGenerator<Buffer> {
  return format === 'parquet' ? parquet(pages, options) : lines(format, pages, options)
}

async function* lines(
  format: 'csv' | 'ndjson',
  pages: AsyncIterable<readonly Row[]>,
  { columns, hasHeader }: FileOptions,
): AsyncGenerator<Buffer> {
  const names = columns.map(({ name }) => name)
  if (format === 'csv' && hasHeader) yield Buffer.from(`${names.join(',')}\r\n`)
  const lineOf =
    format === 'csv'
      ? (row: Row) => `${row.map(csvCell).join(',')}\r\n`
      : (row: Row) => `${JSON.stringify(Object.fromEntries(row.map((cell, at) => [names[at], cell])))}\n`
  for await (const rows of pages) if (rows.length > 0) yield Buffer.from(rows.map(lineOf).join(''))
}

/** RFC 4180; null is an empty field, and no text of ours is empty. */
function csvCell(cell: Cell): string {
  if (cell === null) return ''
  const text = String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * A row group is held in memory, and its columns are encoded from it, so whichever limit is reached first closes it.
 * Fractions have up to 4,096 bits a side: counting rows alone would let a group grow tenfold.
 */
const GROUP_ROWS = 10_000
const GROUP_CHARACTERS = 4 * 1024 * 1024

async function* parquet(
  pages: AsyncIterable<readonly Row[]>,
  { columns, position }: FileOptions,
): AsyncGenerator<Buffer> {
  const bytes = new ByteWriter()
  const file = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, isInteger }) =>
        isInteger
          ? { name, type: 'INT64' as const, repetition_type: 'OPTIONAL' as const }
          : {
              name,
              type: 'BYTE_ARRAY' as const,
              converted_type: 'UTF8' as const,
              repetition_type: 'OPTIONAL' as const,
            },
      ),
    ],
    kvMetadata: Object.entries(position).map(([key, value]) => ({ key: `assay.${key}`, value })),
    createdBy: 'assay',
  })
  /** Hands over and drops the bytes written so far; offsets in the file keep counting. */
  const taken = (): Buffer => {
    const part = Buffer.from(bytes.getBytes())
    bytes.index = 0
    return part
  }
  const writeGroup = async (rows: readonly Row[]) => {
    await file.write({
      columnData: columns.map(({ name, isInteger }, at) => ({
        name,
        data: rows.map(row => valueOf(row[at] ?? null, isInteger)),
        offsetIndex: false,
      })),
      rowGroupSize: GROUP_ROWS,
    })
  }
  let held: Row[] = []
  let characters = 0
  for await (const rows of pages)
    for (const row of rows) {
      held.push(row)
      characters += charactersIn(row)
      if (held.length < GROUP_ROWS && characters < GROUP_CHARACTERS) continue
      await writeGroup(held)
      held = []
      characters = 0
      yield taken()
    }
  if (held.length > 0) await writeGroup(held)
  held = []
  await file.finish()
  yield taken()
}

function charactersIn(row: Row): number {
  let characters = 0
  for (const cell of row) if (typeof cell === 'string') characters += cell.length
  return characters
}

const valueOf = (cell: Cell, isInteger: boolean): Cell | bigint =>
  cell !== null && isInteger ? BigInt(cell) : cell
