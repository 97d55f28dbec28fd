/** Opens a PostgreSQL database read-only, which needs no claim. */
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
      // The server checks its own pages (data_checksums); a damaged one fails the reads that follow.
      readIntegrity: async () => [],
      // The server guarantees what it committed; a promoted replica is detected by its timeline.
      readMark: async () => null,
      close: () => connection.close(),
    }
  } catch (error) {
    await connection.close()
    throw error
  }
}
