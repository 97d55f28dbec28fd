/**
 * Brings a database to the newest schema. Tables and the version that names them change in one transaction,
 * under a lock that a second starter waits for: an interrupted migration has not happened.
 */
import { type Migration, pendingMigrations } from '../migrations.ts'
import { StoreError } from '../storeError.ts'
import { type Connection, type Query, SCHEMA, statement } from './connection.ts'

/** Any number will do, as long as no other program takes it: "Assy" and 1. */
export const MIGRATION_LOCK = '281103041233921'

const LOCK = statement(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
const FIND = statement(`
  SELECT to_regnamespace('${SCHEMA}') IS NOT NULL AS "hasSchema",
    to_regclass('${SCHEMA}.migration') IS NOT NULL AS "hasVersions"`)
const STORED = statement(`SELECT coalesce(max(version), 0)::int AS version FROM ${SCHEMA}.migration`)
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
  // A database that lacks nothing is not locked.
  while (pendingMigrations(migrations, await storedVersion(connection.query)).length > 0)
    await connection.write(async query => {
      await query(LOCK)
      // Another process may have been faster: what is pending is asked again under the lock.
      const stored = await storedVersion(query)
      const [next] = pendingMigrations(migrations, stored)
      if (next === undefined) return
      if (stored === 0) {
        await query(CREATE_SCHEMA)
        await query(CREATE_VERSIONS)
      }
      await apply(query, next, nowMs)
    })
}

/** For who may not migrate. */
export async function assertMigrated(
  connection: Connection,
  migrations: readonly Migration[],
): Promise<void> {
  const stored = await storedVersion(connection.query)
  if (pendingMigrations(migrations, stored).length > 0)
    throw new StoreError(
      'STORE_SCHEMA_OLDER',
      `The database has schema version ${stored}, and this program works with ${migrations.length}: start the service on it once.`,
    )
}

/** 0 for a database without our schema; a schema of that name that is not ours is refused. */
async function storedVersion(query: Query): Promise<number> {
  const [found] = await query<{ hasSchema: boolean; hasVersions: boolean }>(FIND)
  if (found?.hasSchema === false) return 0
  if (found?.hasVersions !== true)
    throw new StoreError('STORE_FOREIGN', `The database has a schema "${SCHEMA}" of another program.`)
  const [stored] = await query<{ version: number }>(STORED)
  return stored?.version ?? 0
}

async function apply(query: Query, { version, name, sql }: Migration, nowMs: number): Promise<void> {
  try {
    // Without a name: only so may one text hold several statements.
    await query({ name: '', text: sql })
    await query(NOTE, [version, name, nowMs])
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new StoreError('STORE_INTERNAL', `Schema migration ${version} (${name}) failed: ${why}`, {
      cause: error,
    })
  }
}
