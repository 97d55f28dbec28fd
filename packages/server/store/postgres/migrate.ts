/**
 * Brings a database to the newest schema. Tables and the version that describes them change in one transaction, under a
 * lock that a second process waits for, so an interrupted migration leaves no trace.
 */
import { type Migration, pendingMigrations } from '../migrations.ts'
import { StoreError } from '../storeError.ts'
import { type Connection, type Query, SCHEMA, statement } from './connection.ts'

/** Any number that no other program uses: "Assy" and 1. */
export const MIGRATION_LOCK = '281103041233921'

const LOCK = statement(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
// Read from the tables themselves: `to_regclass` may answer from this connection’s cache from before it waited for the lock.
const hasTable = (name: string) =>
  `EXISTS (SELECT FROM pg_tables WHERE schemaname = '${SCHEMA}' AND tablename = '${name}')`
const FIND = statement(`
  SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${SCHEMA}') AS "hasSchema",
    ${hasTable('migration')} AS "hasVersions", ${hasTable('compatibility')} AS "hasOldest"`)
type Found = { readonly hasSchema: boolean; readonly hasVersions: boolean; readonly hasOldest: boolean }
const STORED = statement(`SELECT coalesce(max(version), 0)::int AS version FROM ${SCHEMA}.migration`)
const OLDEST = statement(`SELECT oldest FROM ${SCHEMA}.compatibility`)
const SET_OLDEST = statement(`UPDATE ${SCHEMA}.compatibility SET oldest = greatest(oldest, $1)`)
const CREATE_SCHEMA = statement(`CREATE SCHEMA ${SCHEMA}`)
const CREATE_VERSIONS = statement(`
  CREATE TABLE ${SCHEMA}.migration (
    version INT PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at_ms BIGINT NOT NULL
  )`)
const NOTE = statement('INSERT INTO migration (version, name, applied_at_ms) VALUES ($1, $2, $3)')

export async function migrate(
  connection: Connection,
  migrations: readonly Migration[],
  nowMs: number,
): Promise<void> {
  // A database that is up to date is not locked.
  while ((await pending(connection.query, migrations)).length > 0)
    await connection.write(async query => {
      await query(LOCK)
      // Another process may have been faster, so the pending migrations are read again under the lock.
      const [next] = await pending(query, migrations)
      if (next === undefined) return
      if (next.version === 1) {
        await query(CREATE_SCHEMA)
        await query(CREATE_VERSIONS)
      }
      await apply(query, next, nowMs)
    })
}

/** For a process that may not migrate. */
export async function assertMigrated(
  connection: Connection,
  migrations: readonly Migration[],
): Promise<void> {
  const [next] = await pending(connection.query, migrations)
  if (next !== undefined)
    throw new StoreError(
      'STORE_SCHEMA_OLDER',
      `The database has schema version ${next.version - 1}, and this program works with ${migrations.length}: start the service on it once.`,
    )
}

/** All migrations for a database without our schema; refuses a schema of that name that is not ours. */
async function pending(query: Query, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const [found] = await query<Found>(FIND)
  if (found?.hasSchema === false) return pendingMigrations(migrations, 0)
  if (found?.hasVersions !== true)
    throw new StoreError('STORE_FOREIGN', `The database has a schema "${SCHEMA}" of another program.`)
  const [stored] = await query<{ version: number }>(STORED)
  const [known] = found.hasOldest ? await query<{ oldest: number }>(OLDEST) : []
  return pendingMigrations(migrations, stored?.version ?? 0, known?.oldest)
}

async function apply(
  query: Query,
  { version, name, sql, oldest = version }: Migration,
  nowMs: number,
): Promise<void> {
  try {
    // Without a name, because only an unnamed statement may contain several.
    await query({ name: '', text: sql, arrays: new Map() })
    await query(NOTE, [version, name, nowMs])
    const [found] = await query<Found>(FIND)
    if (found?.hasOldest === true) await query(SET_OLDEST, [oldest])
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new StoreError('STORE_INTERNAL', `Schema migration ${version} (${name}) failed: ${why}`, {
      cause: error,
    })
  }
}
