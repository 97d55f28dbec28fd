/** What processes tell each other through the PostgreSQL database they share, over connections of its own. */
import type { ClusterStore } from '../cluster.ts'
import { Connection } from './connection.ts'
import { mailStore } from './mail.ts'
import { nodeStore, spendingStore } from './nodes.ts'
import { seatStore } from './seats.ts'

/** Signs of life must not wait for questions. */
const CONNECTIONS = 4

export function openCluster(url: string): ClusterStore {
  const connection = new Connection(url, CONNECTIONS)
  return {
    ...seatStore(connection),
    ...mailStore(connection),
    ...nodeStore(connection),
    ...spendingStore(connection),
    close: () => connection.close(),
  }
}
