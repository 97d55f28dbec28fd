/** Arrays as a real server reads them, against the same arrays as text. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cases } from '../../../engine/testing/cases.ts'
import { type PostgresServer, startPostgres } from '../testing/postgresServer.ts'
import { Connection, statement } from './connection.ts'

let server: PostgresServer
let connection: Connection

beforeAll(async () => {
  server = await startPostgres()
  connection = new Connection(await server.createDatabase(), 1)
})
afterAll(async () => {
  await connection.close()
  await server.dispose()
})

const READ = statement(`
  SELECT words, bytes, big, small
  FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::int[]) AS row (words, bytes, big, small)`)

const text = fc.string({ unit: 'grapheme' }).filter(each => !each.includes('\0'))
const rows = fc.array(
  fc.record({
    words: fc.option(text),
    bytes: fc.option(fc.uint8Array().map(each => Buffer.from(each))),
    big: fc.option(fc.maxSafeInteger()),
    small: fc.option(fc.integer()),
  }),
)

it('the server reads the given values, nulls, quotes and empty arrays included', async () => {
  await fc.assert(
    fc.asyncProperty(rows, async given => {
      const column = (name: 'words' | 'bytes' | 'big' | 'small') => given.map(each => each[name])
      const read = await connection.query<(typeof given)[number]>(READ, [
        column('words'),
        column('bytes'),
        column('big'),
        column('small'),
      ])
      expect(read).toEqual(given)
    }),
    { numRuns: cases(60) },
  )
})

it('an array passed to ANY may be empty', async () => {
  const any = statement('SELECT 1 AS one WHERE 7 = ANY ($1::bigint[])')
  expect(await connection.query(any, [[]])).toEqual([])
  expect(await connection.query(any, [[5, 7]])).toEqual([{ one: 1 }])
})
