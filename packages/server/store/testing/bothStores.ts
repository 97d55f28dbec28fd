/** Both kinds of store for the tests of a file. Its databases on PostgreSQL share one server, which ends with the file. */
import { afterAll, beforeAll } from 'vitest'
import { postgresDatabase, sqliteDatabase, type TestDatabase } from './connect.ts'
import { type PostgresServer, startPostgres } from './postgresServer.ts'

export type StoreKind = 'sqlite' | 'postgres'

/** For each kind, what makes an empty database of it. */
export function bothStores(): Readonly<Record<StoreKind, () => Promise<TestDatabase>>> {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.dispose())
  return { sqlite: sqliteDatabase, postgres: () => postgresDatabase(server) }
}
