/** A PostgreSQL database for reading alone: it needs no claim. */
import type { StoreReader } from '../check.ts'
import { Connection, refuseUnfit } from './connection.ts'
import { logStore } from './log.ts'
import { assertMigrated } from './migrate.ts'
import { schema } from './schema.ts'
import { snapshotStore } from './snapshotStore.ts'

export async function openPostgresReader(url: string): Promise<StoreReader> {
  const connection = new Connection(url, 1)
  try {
    await refuseUnfit(connection.query)
    await assertMigrated(connection, schema)
    return {
      ...logStore(connection),
      ...snapshotStore(connection),
      // The server checks its own pages (data_checksums); a broken one fails the reads that follow.
      readIntegrity: async () => [],
      // The server vouches for what it committed; a promoted replica is known by its timeline.
      readMark: async () => null,
      close: () => connection.close(),
    }
  } catch (error) {
    await connection.close()
    throw error
  }
}
