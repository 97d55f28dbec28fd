/**
 * Events of pools, each keyed by its place on the chain. A log of an orphaned block stays listed as such; if
 * its block returns, it is canonical again.
 */
import type { EventRow, SnapshotStore, StepCommit } from '../port.ts'
import type { Connection } from './connection.ts'
import { rowLimit } from '../rowLimit.ts'

type Commit = Pick<StepCommit, 'chainId' | 'atMs' | 'events' | 'orphanedBlocks' | 'finalizedNumber'>

export type EventWriter = { write(commit: Commit): void }

export function eventWriter(connection: Connection): EventWriter {
  const orphan = connection.prepare(
    "UPDATE pool_event SET finality = 'orphaned' WHERE chain_id = ? AND block_hash = ?",
  )
  const insert = connection.prepare(`
    INSERT INTO pool_event
      (chain_id, pool_address, kind, block_number, block_hash, log_index, at_ms, finality, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (chain_id, block_hash, log_index) DO UPDATE SET
      finality = CASE finality WHEN 'finalized' THEN 'finalized' ELSE excluded.finality END,
      body = excluded.body`)
  // The literal is what lets SQLite use the index of pending events.
  const finalize = connection.prepare(
    "UPDATE pool_event SET finality = 'finalized' WHERE chain_id = ? AND block_number <= ? AND finality = 'canonical'",
  )
  return {
    // In this order: a block may be orphaned and return in one step, and be final at once.
    write({ chainId, atMs, events, orphanedBlocks, finalizedNumber }) {
      for (const hash of orphanedBlocks) orphan.run(chainId, hash)
      for (const { poolAddress, kind, blockNumber, blockHash, logIndex, body } of events) {
        // What a back-fill finds is final already, and is written once.
        const finality = blockNumber <= (finalizedNumber ?? -1) ? 'finalized' : 'canonical'
        insert.run(chainId, poolAddress, kind, blockNumber, blockHash, logIndex, atMs, finality, body)
      }
      if (finalizedNumber !== null) finalize.run(chainId, finalizedNumber)
    },
  }
}

/** Newest first; the block's hash decides between logs of two branches at the same place. */
export function eventReader(connection: Connection): Pick<SnapshotStore, 'readEvents'> {
  const page = connection.prepare(`
    SELECT chain_id AS chainId, pool_address AS poolAddress, kind, block_number AS blockNumber,
      block_hash AS blockHash, log_index AS logIndex, finality, body
    FROM pool_event
    WHERE chain_id = :chain AND pool_address = :pool
      AND (block_number, log_index, block_hash) < (:number, :index, :hash)
      AND block_number BETWEEN :from AND :to
      AND (:kind IS NULL OR kind = :kind)
    ORDER BY block_number DESC, log_index DESC, block_hash DESC
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
        // As tight as the key allows: the index is entered at this bound.
        to: Math.min(toBlock ?? Number.MAX_SAFE_INTEGER, before?.blockNumber ?? Number.MAX_SAFE_INTEGER),
        kind,
        limit: rowLimit(limit),
      }
      return connection.query(() => page.all(bounds)) as unknown as EventRow[]
    },
  }
}
