/**
 * The store of an API node that reads from a replica. Market data comes from the replica and may be slightly old;
 * access data and the end of the log come from the primary. So a cursor that the replica has not reached is known to be
 * valid, and the node waits for it: it is never refused as invalid, and nothing is skipped.
 */
import type { BackfillStore } from '../backfill.ts'
import type { MaintenanceStore } from '../maintenance.ts'
import type { LogStore, Store } from '../port.ts'
import { StoreError } from '../storeError.ts'
import { Connection, refuseUnfit, statement } from './connection.ts'
import { candleStore } from './candleStore.ts'
import { historyStore } from './historyStore.ts'
import { logStore } from './log.ts'
import { assertMigrated } from './migrate.ts'
import { operatorStore } from './operatorStore.ts'
import { openPostgresStore } from './postgresStore.ts'
import { schema } from './schema.ts'
import { snapshotStore } from './snapshotStore.ts'
import { withdrawalStore } from './withdrawalStore.ts'

const CONNECTIONS = 4
/** Created with the database, and copied with it. */
const SECRET = 'cursor'
const COPIED_SECRET = statement(`SELECT value FROM meta WHERE name = 'secret/${SECRET}'`)

/** `tail` is the log as far as the replica has it. */
export async function openReplicatedStore(
  url: string,
  replicaUrl: string,
): Promise<Store & MaintenanceStore & BackfillStore & { readonly tail: LogStore }> {
  const primary = await openPostgresStore(url)
  const replica = new Connection(replicaUrl, CONNECTIONS)
  const close = async () => {
    await replica.close()
    await primary.close()
  }
  try {
    await refuseUnfit(replica.query)
    await assertMigrated(replica, schema)
    await refuseStranger(replica, await primary.readSecret(SECRET))
    const tail = logStore(replica)
    const operator = operatorStore(replica)
    const withdrawals = withdrawalStore(replica)
    const candles = candleStore(replica)
    return {
      ...primary,
      readLog: (after, limit, chainId) => tail.readLog(after, limit, chainId),
      ...snapshotStore(replica),
      ...historyStore(replica),
      readCandlesAt: () => candles.readCandlesAt(),
      readCandles: (series, range) => candles.readCandles(series, range),
      readTokenTail: (chainId, token, after, limit) => candles.readTokenTail(chainId, token, after, limit),
      readWithdrawals: (chainId, bounds) => withdrawals.readWithdrawals(chainId, bounds),
      readTokensOf: tokens => operator.readTokensOf(tokens),
      tail,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function refuseStranger(replica: Connection, secret: Uint8Array): Promise<void> {
  const [copied] = await replica.query<{ value: Uint8Array }>(COPIED_SECRET)
  if (copied !== undefined && Buffer.compare(copied.value, secret) === 0) return
  throw new StoreError(
    'STORE_FOREIGN',
    'The replica is not a copy of the database in `store`, or has not reached its beginning yet.',
  )
}
