/**
 * The store on one SQLite file. The process claims the file once (`claimDatabase`); then every thread that needs the
 * store opens a connection of its own.
 */
import { dirname } from 'node:path'
import type { BackfillStore } from '../backfill.ts'
import type { MaintenanceStore } from '../maintenance.ts'
import type { Store } from '../port.ts'
import { accessStore } from './accessStore.ts'
import { backfillStore } from './backfillStore.ts'
import { candleStore } from './candleStore.ts'
import { chainStore } from './chainStore.ts'
import { assertClaimed, canonicalPath } from './claim.ts'
import { Connection, openDatabase } from './connection.ts'
import { assertSpace, refuseNetworkFileSystem } from './fileSystem.ts'
import { historyStore } from './historyStore.ts'
import { logStore } from './log.ts'
import { markOf } from './sequenceMark.ts'
import { maintenanceStore } from './maintenanceStore.ts'
import { migrate, refuseUnknown } from './migrate.ts'
import { operatorStore } from './operatorStore.ts'
import { schema } from './schema.ts'
import { snapshotStore } from './snapshotStore.ts'
import { webhookStore } from './webhookStore.ts'
import { withdrawalStore } from './withdrawalStore.ts'

export type SqliteStoreOptions = {
  readonly path: string
  readonly clock?: { nowMs(): number }
  /** With less free space than this, neither a step nor a back-fill commits. */
  readonly floorBytes?: number
}

/** The write-ahead log at its largest and its checkpoint: space that keys, sessions and pruning may still need. */
const FLOOR_BYTES = 128 * 1024 * 1024

export async function openSqliteStore({
  path,
  clock = { nowMs: Date.now },
  floorBytes = FLOOR_BYTES,
}: SqliteStoreOptions): Promise<Store & MaintenanceStore & BackfillStore> {
  const file = canonicalPath(path)
  assertClaimed(file)
  refuseNetworkFileSystem(dirname(file))
  const connection = new Connection(
    openDatabase(file, database => {
      refuseUnknown(database, schema)
      migrate(database, schema, clock.nowMs())
    }),
  )
  const assertRoom = () => assertSpace(dirname(file), floorBytes)
  const positions = {
    ...chainStore(connection, assertRoom),
    ...logStore(connection),
    ...snapshotStore(connection),
    ...historyStore(connection),
    ...withdrawalStore(connection),
    ...candleStore(connection),
    ...operatorStore(connection),
    ...maintenanceStore(connection),
  }
  const mark = markOf(file)
  try {
    await mark?.settle(connection, clock.nowMs())
  } catch (error) {
    connection.close()
    throw error
  }
  return {
    ...(mark === null ? positions : mark.noting(positions, connection)),
    ...accessStore(connection),
    ...backfillStore(connection, assertRoom),
    ...webhookStore(connection),
    close: async () => connection.close(),
  }
}
