/** Back-fill on SQLite: its position moves in the same transaction as the events up to it. */
import type { BackfillPosition, BackfillStore } from '../backfill.ts'
import type { Connection } from './connection.ts'
import { eventWriter } from './poolEvents.ts'

/** `assertSpace` throws when there is not enough space to write old events. */
export function backfillStore(
  connection: Connection,
  assertSpace: () => void = () => undefined,
): BackfillStore {
  const read = connection.prepare(`
    SELECT from_block AS fromBlock, to_block AS toBlock, next_block AS nextBlock, events,
      started_at_ms AS startedAtMs
    FROM backfill WHERE chain_id = ?`)
  const upsert = connection.prepare(`
    INSERT OR REPLACE INTO backfill
      (chain_id, from_block, to_block, next_block, events, started_at_ms, updated_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?)`)
  const insertPool = connection.prepare(
    'INSERT OR IGNORE INTO found_pool (chain_id, pool_address) VALUES (?, ?)',
  )
  const found = connection.prepare(`
    SELECT pool_address AS address FROM found_pool AS f
    WHERE chain_id = ? AND NOT EXISTS
      (SELECT 1 FROM pool WHERE pool.chain_id = f.chain_id AND pool.pool_address = f.pool_address)
    ORDER BY pool_address`)
  const events = eventWriter(connection)
  return {
    async readBackfill(chainId) {
      return connection.query(() => (read.get(chainId) as BackfillPosition | undefined) ?? null)
    },

    async writeBackfill({ chainId, atMs, events: drafts, foundPools, position }) {
      assertSpace()
      await connection.write(() => {
        events.write({
          chainId,
          atMs,
          events: drafts,
          orphanedBlocks: [],
          finalizedNumber: drafts.length === 0 ? null : position.toBlock,
        })
        for (const address of foundPools) insertPool.run(chainId, address)
        const { fromBlock, toBlock, nextBlock, startedAtMs } = position
        upsert.run(chainId, fromBlock, toBlock, nextBlock, position.events, startedAtMs, atMs)
      })
    },

    async readFoundPools(chainId) {
      return connection.query(() => (found.all(chainId) as { address: string }[]).map(each => each.address))
    },
  }
}
