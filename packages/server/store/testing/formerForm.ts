/**
 * Turns a database into one of an earlier version, with the rows that the earlier program would have written of the
 * same. So a test of an upgrade begins with rows of any number.
 */
import { DatabaseSync } from 'node:sqlite'
import { unpackBody } from '../eventBody.ts'
import { execute } from './postgresServer.ts'

/** Before withdrawals and candles were stored, and events by block. */
export async function toFormerSchema(address: string): Promise<void> {
  const path = pathOf(address)
  if (path === null) await serverBackTo(address, 12)
  else fileBackTo(path, 11)
}

/** Events with the hash and the finality of their block. */
export async function toFormerEvents(address: string): Promise<void> {
  const path = pathOf(address)
  if (path === null) await eventsOnServer(address)
  else inFile(path, eventsInFile)
}

const pathOf = (address: string): string | null =>
  address.startsWith('sqlite:') ? address.slice('sqlite:'.length) : null

function inFile(path: string, body: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(path)
  body(database)
  database.close()
}

const DROPPED = ['event_block', 'candle', 'candle_progress', 'withdrawal', 'withdrawal_scan']

function fileBackTo(path: string, version: number): void {
  inFile(path, database => {
    eventsInFile(database)
    for (const table of DROPPED) database.exec(`DROP TABLE ${table}`)
    database.exec(`DELETE FROM migration WHERE version > ${version}; PRAGMA user_version = ${version}`)
  })
}

async function serverBackTo(address: string, version: number): Promise<void> {
  await eventsOnServer(address)
  for (const table of DROPPED) await execute(address, `DROP TABLE assay.${table}`)
  await execute(address, `DELETE FROM assay.migration WHERE version > ${version}`)
  await execute(address, `UPDATE assay.compatibility SET oldest = ${version - 1}`)
}

function eventsInFile(database: DatabaseSync): void {
  database.function('event_text', body => unpackBody(body as string))
  database.exec(`
    UPDATE pool_event SET body = event_text(body), finality = block.finality, block_hash = block.block_hash
    FROM event_block AS block WHERE block.id = CAST(pool_event.block_hash AS INTEGER);
    DELETE FROM event_block`)
}

async function eventsOnServer(address: string): Promise<void> {
  const events = (await execute(address, 'SELECT id, body FROM assay.pool_event')) as readonly {
    readonly id: string
    readonly body: string
  }[]
  const updates = events.map(
    ({ id, body }) =>
      `UPDATE assay.pool_event SET body = $text$${unpackBody(body)}$text$, finality = block.finality,
         block_hash = block.block_hash
       FROM assay.event_block AS block WHERE block.id = pool_event.block_hash::bigint AND pool_event.id = ${id}`,
  )
  await execute(address, [...updates, 'DELETE FROM assay.event_block'].join(';'))
}

/** All rows of what an upgrade makes or changes, by table. */
export async function rowsOf(address: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const rows: Record<string, readonly string[]> = {}
  for (const table of [...DROPPED, 'pool_event', 'log'])
    rows[table] = (await allOf(address, table)).map(row => JSON.stringify(row)).sort()
  return rows
}

async function allOf(address: string, table: string): Promise<readonly object[]> {
  const path = pathOf(address)
  if (path === null) return execute(address, `SELECT * FROM assay.${table}`)
  let rows: readonly object[] = []
  inFile(path, database => {
    rows = database.prepare(`SELECT * FROM ${table}`).all()
  })
  return rows
}
