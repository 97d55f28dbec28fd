/** Communication between processes over the PostgreSQL database they share, with connections of its own. */
import type { ClusterStore } from '../cluster.ts'
import { Connection } from './connection.ts'
import { rpcStore } from './storeRpc.ts'
import { nodeStore, spendingStore } from './nodes.ts'
import { leaseStore } from './leases.ts'

/** Heartbeats must not wait for requests. */
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
