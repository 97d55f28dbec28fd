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

/** Rows per row group, which are held in memory. */
const GROUP_ROWS = 10_000

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
    const part = Buffer.from(bytes.getBytes().slice())
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
  for await (const rows of pages) {
    held.push(...rows)
    if (held.length < GROUP_ROWS) continue
    await writeGroup(held.splice(0, GROUP_ROWS))
    yield taken()
  }
  if (held.length > 0) await writeGroup(held)
  held = []
  await file.finish()
  yield taken()
}

const valueOf = (cell: Cell, isInteger: boolean): Cell | bigint =>
  cell !== null && isInteger ? BigInt(cell) : cell
