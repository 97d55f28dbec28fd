/** A Parquet file is written in row groups that are bounded by rows and by text, whichever comes first. */
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, it } from 'vitest'
import { bytesOf } from './files.ts'
import type { Column, Row } from './table.ts'

const COLUMNS: readonly Column[] = [
  { name: 'sequence', isInteger: true },
  { name: 'price_numerator', isInteger: false },
]

async function fileOf(count: number, digits: number): Promise<ArrayBuffer> {
  async function* pages(): AsyncGenerator<Row[]> {
    for (let from = 0; from < count; from += 1000)
      yield Array.from(
        { length: Math.min(1000, count - from) },
        (_, at): Row => [from + at, String((from + at) % 7).repeat(digits)],
      )
  }
  const parts: Buffer[] = []
  for await (const part of bytesOf('parquet', pages(), { columns: COLUMNS, hasHeader: true, position: {} }))
    parts.push(part)
  return new Uint8Array(Buffer.concat(parts)).buffer
}

const groupsIn = (file: ArrayBuffer): number[] =>
  parquetMetadata(file).row_groups.map(({ num_rows }) => Number(num_rows))

it('short rows are grouped by their number', async () => {
  expect(groupsIn(await fileOf(23_500, 3))).toEqual([10_000, 10_000, 3500])
})

it('long fractions close a group early, and every row is in the file once', async () => {
  const file = await fileOf(9000, 1200)
  const groups = groupsIn(file)
  expect(groups.length).toBeGreaterThan(1)
  for (const rows of groups) expect(rows * 1200).toBeLessThan(4 * 1024 * 1024 + 1200)
  const rows = await parquetReadObjects({ file })
  expect(rows.map(({ sequence }) => Number(sequence))).toEqual(Array.from({ length: 9000 }, (_, at) => at))
  expect(rows[8999]?.['price_numerator']).toBe(String(8999 % 7).repeat(1200))
})
