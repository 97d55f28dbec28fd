/**
 * Events of pools, keyed by their position on the chain. Events of an orphaned block stay listed as orphaned; if the
 * block returns, they are canonical again. Finality is kept once for a block: a block that becomes final changes one row
 * and none of its events.
 */
import type { EventRow, SnapshotStore, StepCommit } from '../port.ts'
import type { Connection } from './connection.ts'
import { packBody, unpackBody } from '../eventBody.ts'
import { rowLimit } from '../rowLimit.ts'

type Commit = Pick<StepCommit, 'chainId' | 'atMs' | 'events' | 'orphanedBlocks' | 'finalizedNumber'>

export type EventWriter = { write(commit: Commit): void }

export function eventWriter(connection: Connection): EventWriter {
  const tables = ['event_block', 'pool_event'] as const
  const orphans = tables.map(table =>
    connection.prepare(`UPDATE ${table} SET finality = 'orphaned' WHERE chain_id = ? AND block_hash = ?`),
  )
  const writeBlock = blockWriter(connection)
  const insert = connection.prepare(`
    INSERT INTO pool_event
      (chain_id, pool_address, kind, block_number, block_hash, log_index, at_ms, finality, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, 'finalized', ?)
    ON CONFLICT (chain_id, block_hash, log_index) DO UPDATE SET body = excluded.body`)
  // SQLite can use the indexes of pending blocks and events only with the literal.
  const finalizes = tables.map(table =>
    connection.prepare(
      `UPDATE ${table} SET finality = 'finalized' WHERE chain_id = ? AND block_number <= ? AND finality = 'canonical'`,
    ),
  )
  return {
    // In this order, because a block may be orphaned, return and become final in one step.
    write({ chainId, atMs, events, orphanedBlocks, finalizedNumber }) {
      for (const hash of orphanedBlocks) for (const orphan of orphans) orphan.run(chainId, hash)
      const places = new Map<string, string>()
      for (const { poolAddress, kind, blockNumber, blockHash, logIndex, body } of events) {
        let place = places.get(blockHash)
        if (place === undefined) {
          // Events found by a back-fill are final already, and are written once.
          const finality = blockNumber <= (finalizedNumber ?? -1) ? 'finalized' : 'canonical'
          place = writeBlock({ chainId, blockNumber, blockHash, finality })
          places.set(blockHash, place)
        }
        insert.run(chainId, poolAddress, kind, blockNumber, place, logIndex, atMs, packBody(body))
      }
      if (finalizedNumber !== null) for (const finalize of finalizes) finalize.run(chainId, finalizedNumber)
    },
  }
}

type Block = Pick<EventRow, 'chainId' | 'blockNumber' | 'blockHash' | 'finality'>

/** Returns how events refer to the block. Its events of the form before are replaced, and keep it final. */
function blockWriter(connection: Connection): (block: Block) => string {
  const upsert = connection.prepare(`
    INSERT INTO event_block (chain_id, block_number, block_hash, finality)
    VALUES (:chainId, :blockNumber, :blockHash, CASE WHEN EXISTS (
      SELECT 1 FROM pool_event WHERE chain_id = :chainId AND block_hash = :blockHash AND finality = 'finalized')
      THEN 'finalized' ELSE :finality END)
    ON CONFLICT (chain_id, block_hash) DO UPDATE SET
      finality = CASE finality WHEN 'finalized' THEN 'finalized' ELSE excluded.finality END
    RETURNING id`)
  const removeFormer = connection.prepare('DELETE FROM pool_event WHERE chain_id = ? AND block_hash = ?')
  return block => {
    const { id } = upsert.get(block) as { readonly id: number }
    removeFormer.run(block.chainId, block.blockHash)
    return String(id)
  }
}

/** Newest first; the block's hash orders logs of two branches at the same position. */
export function eventReader(connection: Connection): Pick<SnapshotStore, 'readEvents'> {
  // The hash of an event from before is no number, and is the id of no block.
  const page = connection.prepare(`
    SELECT event.chain_id AS chainId, pool_address AS poolAddress, kind, event.block_number AS blockNumber,
      coalesce(block.block_hash, event.block_hash) AS blockHash, log_index AS logIndex,
      coalesce(block.finality, event.finality) AS finality, body
    FROM pool_event AS event LEFT JOIN event_block AS block ON block.id = CAST(event.block_hash AS INTEGER)
    WHERE event.chain_id = :chain AND pool_address = :pool
      AND (event.block_number, log_index, blockHash) < (:number, :index, :hash)
      AND event.block_number BETWEEN :from AND :to
      AND (:kind IS NULL OR kind = :kind)
    ORDER BY event.block_number DESC, log_index DESC, blockHash DESC
    LIMIT :limit`)
  return {
    async readEvents({ chainId, poolAddress, kind, fromBlock, toBlock, before, limit }) {
      const bounds = {
        chain: chainId,
        pool: poolAddress,
        number: before?.blockNumber ?? Number.MAX_SAFE_INTEGER,
        index: before?.logIndex ?? 0,
        hash: before?.blockHash ?? '',
        from: fromBlock ?? 0,
        // As tight as the key allows, because the index search starts at this bound.
        to: Math.min(toBlock ?? Number.MAX_SAFE_INTEGER, before?.blockNumber ?? Number.MAX_SAFE_INTEGER),
        kind,
        limit: rowLimit(limit),
      }
      const rows = connection.query(() => page.all(bounds)) as unknown as EventRow[]
      return rows.map(row => ({ ...row, body: unpackBody(row.body) }))
    },
  }
}
