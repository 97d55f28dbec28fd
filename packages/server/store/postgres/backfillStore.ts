/** Back-fill on PostgreSQL: its position moves in the same transaction as the events up to it. */
import type { BackfillPosition, BackfillStore } from '../backfill.ts'
import { type Connection, statement } from './connection.ts'
import { writeEvents } from './poolEvents.ts'

const READ = statement(`
  SELECT from_block AS "fromBlock", to_block AS "toBlock", next_block AS "nextBlock", events,
    started_at_ms AS "startedAtMs"
  FROM backfill WHERE chain_id = $1`)
const UPSERT = statement(`
  INSERT INTO backfill (chain_id, from_block, to_block, next_block, events, started_at_ms, updated_at_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (chain_id) DO UPDATE SET
    from_block = excluded.from_block, to_block = excluded.to_block, next_block = excluded.next_block,
    events = excluded.events, started_at_ms = excluded.started_at_ms, updated_at_ms = excluded.updated_at_ms`)
const FOUND = statement(`
  INSERT INTO found_pool (chain_id, pool_address) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`)
const UNKNOWN = statement(`
  SELECT pool_address AS address FROM found_pool AS f
  WHERE chain_id = $1 AND NOT EXISTS
    (SELECT 1 FROM pool WHERE pool.chain_id = f.chain_id AND pool.pool_address = f.pool_address)
  ORDER BY pool_address`)

export function backfillStore(connection: Connection): BackfillStore {
  return {
    async readBackfill(chainId) {
      return (await connection.query<BackfillPosition>(READ, [chainId]))[0] ?? null
    },

    async writeBackfill({ chainId, atMs, events, foundPools, position }) {
      const { fromBlock, toBlock, nextBlock, startedAtMs } = position
      await connection.write(async query => {
        await writeEvents(query, {
          chainId,
          atMs,
          events,
          orphanedBlocks: [],
          finalizedNumber: events.length === 0 ? null : toBlock,
        })
        if (foundPools.length > 0) await query(FOUND, [chainId, foundPools])
        await query(UPSERT, [chainId, fromBlock, toBlock, nextBlock, position.events, startedAtMs, atMs])
      })
    },

    async readFoundPools(chainId) {
      return (await connection.query<{ address: string }>(UNKNOWN, [chainId])).map(({ address }) => address)
    },
  }
}
