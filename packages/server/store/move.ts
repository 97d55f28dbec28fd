/**
 * Copies a complete SQLite database into an empty PostgreSQL one: sequences, epoch, secrets, keys and sessions stay the
 * same, so existing cursors, keys and cookies remain valid.
 *
 * The copy is one transaction of the target, checked before it is committed: after an interruption the target is
 * unchanged, and the copy can be repeated. The source is only read, by a process that has claimed it, so that no other
 * process writes to it.
 */
import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { type CheckReport, checkStore } from './check.ts'
import { claimPostgres } from './postgres/claim.ts'
import { Connection, type Query, SCHEMA, statement } from './postgres/connection.ts'
import { encodeSaid } from './postgres/facts.ts'
import { logStore } from './postgres/log.ts'
import { snapshotStore } from './postgres/snapshotStore.ts'
import { claimDatabase } from './sqlite/claim.ts'
import { openFile } from './sqlite/reader.ts'
import { StoreError } from './storeError.ts'

export type Moved = CheckReport & { readonly rows: number }

/** Tables that others refer to come first. */
const FIRST = ['consumer', 'api_key']
/** Tables that are not copied as rows: schema versions, and the head, which every database has. */
const OWN = ['migration', 'head']
/** Tables with a row in every database, even an empty one: the row of the source replaces it. */
const BEGUN = ['candle_progress']
/** Texts reported by contracts, which are encoded differently: see `facts.ts`. */
const SAID = ['token.symbol', 'token.name']
/** Limits of one insert: enough to be fast, few enough for memory. */
const BATCH = { rows: 2000, bytes: 4 * 1024 * 1024 } as const

type Row = Readonly<Record<string, unknown>>
type Column = {
  readonly name: string
  readonly type: string
  readonly identity: 'YES' | 'NO'
}

/** Run only while the service is stopped. The source stays unchanged. */
export async function moveStore(
  path: string,
  to: string,
  onTable: (table: string, rows: number) => void = () => undefined,
): Promise<Moved> {
  if (!existsSync(path)) throw new StoreError('STORE_MISUSE', `There is no database ${path} to move.`)
  const leave = claimDatabase(path)
  try {
    const source = openFile(path)
    try {
      return await moveInto(to, source, onTable)
    } finally {
      source.close()
    }
  } finally {
    leave()
  }
}

async function moveInto(
  to: string,
  source: DatabaseSync,
  onTable: (table: string, rows: number) => void,
): Promise<Moved> {
  const release = await claimPostgres(to)
  const connection = new Connection(to, 1)
  try {
    return await connection.write(async query => {
      let rows = 0
      const tables = tablesOf(source)
      for (const table of tables)
        if (BEGUN.includes(table)) await query(statement(`DELETE FROM ${table}`))
        else await refuseFull(query, table)
      for (const table of tables) {
        const moved = await moveTable(query, source, table)
        onTable(table, moved)
        rows += moved
      }
      await moveHead(query, source)
      const report = await check(query)
      if (report.faults.length > 0)
        throw new StoreError(
          'STORE_CORRUPT',
          `Nothing was moved: the result would be damaged (${report.faults[0]}). Run \`assay db check\` on the source.`,
        )
      return { ...report, rows }
    })
  } finally {
    await connection.close()
    await release()
  }
}

function tablesOf(source: DatabaseSync): string[] {
  const names = source
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all() as { name: string }[]
  const tables = names.map(({ name }) => name).filter(name => !OWN.includes(name))
  return [...FIRST, ...tables.filter(name => !FIRST.includes(name))]
}

/** A database in use has at least its secrets, so a table with rows means that the target is not empty. */
async function refuseFull(query: Query, table: string): Promise<void> {
  const rows = await query(statement(`SELECT 1 FROM ${table} LIMIT 1`))
  if (rows.length > 0)
    throw new StoreError(
      'STORE_CONSTRAINT',
      `The database to move to is not empty: ${table} has rows. Give it a database of its own, or drop the schema "${SCHEMA}".`,
    )
}

const COLUMNS = statement(`
  SELECT column_name AS name, data_type AS type, is_identity AS identity
  FROM information_schema.columns WHERE table_schema = '${SCHEMA}' AND table_name = $1`)

async function moveTable(query: Query, source: DatabaseSync, table: string): Promise<number> {
  const known = new Map((await query<Column>(COLUMNS, [table])).map(column => [column.name, column]))
  const columns = (source.prepare(`PRAGMA table_info(${table})`).all() as { name: string }[]).map(
    ({ name }) => {
      const column = known.get(name)
      if (column === undefined)
        throw new StoreError('STORE_INTERNAL', `PostgreSQL has no column ${table}.${name} to move to.`)
      return column
    },
  )
  const insert = statement(`
    INSERT INTO ${table} (${columns.map(({ name }) => name).join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT * FROM unnest(${columns.map(({ type }, at) => `$${at + 1}::${type}[]`).join(', ')})`)
  let moved = 0
  for (const batch of batchesOf(source, table)) {
    await query(
      insert,
      columns.map(({ name }) => batch.map(row => valueOf(table, name, row[name]))),
    )
    moved += batch.length
  }
  const [counted] = await query<{ rows: number }>(statement(`SELECT count(*) AS rows FROM ${table}`))
  if (counted?.rows !== moved)
    throw new StoreError('STORE_INTERNAL', `${moved} rows of ${table} were sent and ${counted?.rows} came.`)
  for (const { name, identity } of columns)
    if (identity === 'YES' && moved > 0)
      await query(
        statement(
          `SELECT setval(pg_get_serial_sequence('${SCHEMA}.${table}', '${name}'), (SELECT max(${name}) FROM ${table}))`,
        ),
      )
  return moved
}

function* batchesOf(source: DatabaseSync, table: string): Generator<readonly Row[]> {
  let batch: Row[] = []
  let bytes = 0
  for (const row of source.prepare(`SELECT * FROM ${table}`).iterate() as Iterable<Row>) {
    batch.push(row)
    for (const value of Object.values(row))
      bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
    if (batch.length < BATCH.rows && bytes < BATCH.bytes) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

function valueOf(table: string, column: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value)
  return SAID.includes(`${table}.${column}`) ? encodeSaid(value as string | null) : value
}

/** Copies only the position of the log: generation and timeline are the target's own. */
async function moveHead(query: Query, source: DatabaseSync): Promise<void> {
  const { epoch, next, written } = source.prepare('SELECT epoch, next, written FROM head').get() as Row
  await query(statement('UPDATE head SET epoch = $1, next = $2, written = $3'), [epoch, next, written])
}

/** Checks what the transaction has written, before any other connection sees it. */
function check(query: Query): Promise<CheckReport> {
  const inside = {
    query,
    read: <Result>(body: (within: Query) => Promise<Result>) => body(query),
  } as Connection
  return checkStore({
    ...logStore(inside),
    ...snapshotStore(inside),
    readIntegrity: async () => [],
    readMark: async () => null,
    close: async () => undefined,
  })
}
