/** What processes tell each other through the PostgreSQL database they share, over connections of its own. */
import type { ClusterStore } from '../cluster.ts'
import { Connection } from './connection.ts'
import { rpcStore } from './storeRpc.ts'
import { nodeStore, spendingStore } from './nodes.ts'
import { leaseStore } from './leases.ts'

/** Signs of life must not wait for questions. */
const CONNECTIONS = 4

export function openCluster(url: string): ClusterStore {
  const connection = new Connection(url, CONNECTIONS)
  return {
    ...leaseStore(connection),
    ...rpcStore(connection),
    ...nodeStore(connection),
    ...spendingStore(connection),
    close: () => connection.close(),
  }
}
