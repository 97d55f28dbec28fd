/**
 * Events of pools, keyed by their position on the chain. Events of an orphaned block stay listed as orphaned; if the
 * block returns, they are canonical again.
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
  // SQLite can use the index of pending events only with the literal.
  const finalize = connection.prepare(
    "UPDATE pool_event SET finality = 'finalized' WHERE chain_id = ? AND block_number <= ? AND finality = 'canonical'",
  )
  return {
    // In this order, because a block may be orphaned, return and become final in one step.
    write({ chainId, atMs, events, orphanedBlocks, finalizedNumber }) {
      for (const hash of orphanedBlocks) orphan.run(chainId, hash)
      for (const { poolAddress, kind, blockNumber, blockHash, logIndex, body } of events) {
        // Events found by a back-fill are final already, and are written once.
        const finality = blockNumber <= (finalizedNumber ?? -1) ? 'finalized' : 'canonical'
        insert.run(chainId, poolAddress, kind, blockNumber, blockHash, logIndex, atMs, finality, body)
      }
      if (finalizedNumber !== null) finalize.run(chainId, finalizedNumber)
    },
  }
}

/** Newest first; the block's hash orders logs of two branches at the same position. */
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
        // As tight as the key allows, because the index search starts at this bound.
        to: Math.min(toBlock ?? Number.MAX_SAFE_INTEGER, before?.blockNumber ?? Number.MAX_SAFE_INTEGER),
        kind,
        limit: rowLimit(limit),
      }
      return connection.query(() => page.all(bounds)) as unknown as EventRow[]
    },
  }
}
