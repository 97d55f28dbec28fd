import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Migration, pendingMigrations } from '../migrations.ts'
import { claimDatabase } from './claim.ts'
import { refuseOldSqlite } from './connection.ts'
import { migrate, refuseUnknown } from './migrate.ts'
import { schema } from './schema.ts'
import { openSqliteStore } from './sqliteStore.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-migrate-'))
  path = join(folder, 'assay.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

const added = (sql: string): Migration[] => [...schema, { version: schema.length + 1, name: 'added', sql }]
const tables = (database: DatabaseSync) =>
  database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map(row => row['name'] as string)

test('S12: a newer schema is refused, and the database is unchanged', async () => {
  const release = claimDatabase(path)
  await (await openSqliteStore({ path })).close()
  const database = new DatabaseSync(path)
  migrate(database, added('CREATE TABLE future (id INTEGER) STRICT'), 1)
  database.close()
  await expect(openSqliteStore({ path })).rejects.toMatchObject({
    code: 'STORE_SCHEMA_NEWER',
    retryable: false,
    message: expect.stringContaining(`schema version ${schema.length + 1}`),
  })
  release()
})

test('S12: a migration that fails half-way has no effect, and the next start continues from before it', () => {
  const database = new DatabaseSync(path)
  const broken = added('CREATE TABLE first (id INTEGER) STRICT; CREATE TABLE second (nonsense')
  expect(() => migrate(database, broken, 1)).toThrow(`migration ${schema.length + 1} (added) failed`)
  expect(tables(database)).not.toContain('first')
  expect(tables(database)).toContain('session')
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: schema.length })
  migrate(database, added('CREATE TABLE first (id INTEGER) STRICT'), 2)
  expect(tables(database)).toContain('first')
  const applied = database.prepare('SELECT version, applied_at_ms AS at FROM migration').all()
  expect(applied.map(row => ({ ...row }))).toEqual([
    ...schema.map(({ version }) => ({ version, at: 1 })),
    { version: schema.length + 1, at: 2 },
  ])
  database.close()
})

test('every prefix of the schema migrates to the whole', () => {
  const whole = new DatabaseSync(':memory:')
  migrate(whole, schema, 1)
  for (let version = 0; version <= schema.length; version++) {
    const database = new DatabaseSync(':memory:')
    migrate(database, schema.slice(0, version), 1)
    migrate(database, schema, 1)
    expect(tables(database)).toEqual(tables(whole))
  }
})

test('no written row makes SQLite build a table for its checks', () => {
  const database = new DatabaseSync(':memory:')
  migrate(database, schema, 1)
  const names = tables(database).filter(name => !name.startsWith('sqlite_'))
  expect(names).toContain('pool_event')
  for (const name of names) {
    const program = database.prepare(`EXPLAIN INSERT INTO ${name} DEFAULT VALUES`).all()
    expect(program.map(row => row['opcode'])).not.toContain('OpenEphemeral')
  }
})

test('checks refuse an invalid role and an invalid finality', () => {
  const database = new DatabaseSync(':memory:')
  migrate(database, schema, 1)
  const token = database.prepare("INSERT INTO token (chain_id, token_address, role) VALUES (1, 'a', ?)")
  expect(() => token.run('token')).toThrow('CHECK constraint failed')
  token.run('TOKEN')
  const event = database.prepare(`
    INSERT INTO pool_event
      (chain_id, pool_address, kind, block_number, block_hash, log_index, at_ms, finality, body)
    VALUES (1, 'a', 'SWAP', 1, 'b', ?, 1, ?, '')`)
  expect(() => event.run(0, 'final')).toThrow('CHECK constraint failed')
  for (const [index, finality] of ['canonical', 'finalized', 'orphaned'].entries()) event.run(index, finality)
})

test('migrations are numbered from one without a gap', () => {
  expect(() => pendingMigrations([{ version: 2, name: 'x', sql: '' }], 0)).toThrow('expected 1')
  expect(pendingMigrations(schema, 1)).toEqual(schema.slice(1))
})

test('a database of another program is refused', () => {
  const database = new DatabaseSync(':memory:')
  expect(() => refuseUnknown(database, schema)).not.toThrow()
  database.exec('CREATE TABLE theirs (id INTEGER)')
  expect(() => refuseUnknown(database, schema)).toThrow('another program')
  const marked = new DatabaseSync(':memory:')
  marked.exec('PRAGMA application_id = 7')
  expect(() => refuseUnknown(marked, schema)).toThrow('another program')
})

test.each(['3.51.2', '3.50.9', '2.99.99', '3.51'])('S8: SQLite %s is refused', version => {
  expect(() => refuseOldSqlite(reporting(version))).toThrow(`SQLite ${version}; 3.51.3 or newer`)
})

test.each(['3.51.3', '3.51.10', '3.53.4', '4.0.0'])('SQLite %s is served', version => {
  expect(() => refuseOldSqlite(reporting(version))).not.toThrow()
})

const reporting = (version: string) =>
  ({ prepare: () => ({ get: () => ({ version }) }) }) as unknown as Pick<DatabaseSync, 'prepare'>
