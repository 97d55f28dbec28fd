/**
 * The store on PostgreSQL. The process claims the database once (`claimPostgres`); then every thread that needs the
 * store opens connections of its own.
 */
import type { BackfillStore } from '../backfill.ts'
import type { Lease } from '../cluster.ts'
import type { MaintenanceStore } from '../maintenance.ts'
import type { Store } from '../port.ts'
import { accessStore } from './accessStore.ts'
import { backfillStore } from './backfillStore.ts'
import { candleStore } from './candleStore.ts'
import { chainStore } from './chainStore.ts'
import { readClaimed } from './claim.ts'
import { Connection } from './connection.ts'
import { historyStore } from './historyStore.ts'
import { fenceOf, logStore } from './log.ts'
import { maintenanceStore } from './maintenanceStore.ts'
import { operatorStore } from './operatorStore.ts'
import { snapshotStore } from './snapshotStore.ts'
import { webhookStore } from './webhookStore.ts'
import { withdrawalStore } from './withdrawalStore.ts'

/** A chain's thread needs one; the API serves several requests at a time. */
const CONNECTIONS = 4

/** `lease` is the lease of this writer's chain; when several processes share the database, only its holder commits. */
export async function openPostgresStore(
  url: string,
  lease: Lease | null = null,
): Promise<Store & MaintenanceStore & BackfillStore> {
  const connection = new Connection(url, CONNECTIONS)
  try {
    const claimed = await readClaimed(connection.query)
    return {
      ...chainStore(connection, chainId => fenceOf(claimed, lease, chainId)),
      ...logStore(connection),
      ...snapshotStore(connection),
      ...historyStore(connection),
      ...withdrawalStore(connection),
      ...candleStore(connection),
      ...accessStore(connection),
      ...operatorStore(connection),
      ...maintenanceStore(connection, claimed),
      ...backfillStore(connection),
      ...webhookStore(connection),
      close: () => connection.close(),
    }
  } catch (error) {
    await connection.close()
    throw error
  }
}
