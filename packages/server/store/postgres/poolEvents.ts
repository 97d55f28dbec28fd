/**
 * Events of pools, keyed by their position on the chain. Events of an orphaned block stay listed as orphaned; if the
 * block returns, they are canonical again. Finality is kept once for a block: a block that becomes final changes one row
 * and none of its events.
 */
import type { EventRow, SnapshotStore, StepCommit } from '../port.ts'
import { packBody, unpackBody } from '../eventBody.ts'
import { rowLimit } from '../rowLimit.ts'
import { type Connection, type Query, statement } from './connection.ts'

const ORPHAN = statement(`
  WITH former AS (
    UPDATE pool_event SET finality = 'orphaned' WHERE chain_id = $1 AND block_hash = ANY ($2::text[]))
  UPDATE event_block SET finality = 'orphaned' WHERE chain_id = $1 AND block_hash = ANY ($2::text[])`)
/** Events of these blocks that are stored in the form before are replaced, and keep their block final. */
const INSERT = statement(`
  WITH block AS (
    INSERT INTO event_block (chain_id, block_number, block_hash, finality)
    SELECT $1, number, hash, CASE WHEN number <= $2 OR EXISTS (
      SELECT FROM pool_event WHERE chain_id = $1 AND block_hash = hash AND finality = 'finalized')
      THEN 'finalized' ELSE 'canonical' END
    FROM unnest($3::bigint[], $4::text[]) AS row (number, hash)
    ON CONFLICT (chain_id, block_hash) DO UPDATE SET
      finality = CASE event_block.finality WHEN 'finalized' THEN 'finalized' ELSE excluded.finality END
    RETURNING id, block_number, block_hash),
  former AS (DELETE FROM pool_event WHERE chain_id = $1 AND block_hash = ANY ($4::text[]))
  INSERT INTO pool_event
    (chain_id, at_ms, finality, block_number, block_hash, pool_address, kind, log_index, body)
  SELECT $1, $5, 'finalized', block.block_number, block.id::text, pool_address, kind, log_index, body
  FROM unnest($6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[])
    AS row (block_hash, pool_address, kind, log_index, body) JOIN block USING (block_hash)
  ON CONFLICT (chain_id, block_hash, log_index) DO UPDATE SET body = excluded.body`)
const FINALIZE = statement(`
  WITH former AS (
    UPDATE pool_event SET finality = 'finalized' WHERE chain_id = $1 AND block_number <= $2 AND finality = 'canonical')
  UPDATE event_block SET finality = 'finalized' WHERE chain_id = $1 AND block_number <= $2 AND finality = 'canonical'`)

type EventCommit = Pick<StepCommit, 'chainId' | 'atMs' | 'events' | 'orphanedBlocks' | 'finalizedNumber'>

/** In this order, because a block may be orphaned, return and become final in one step. */
export async function writeEvents(query: Query, commit: EventCommit): Promise<void> {
  const { chainId, atMs, orphanedBlocks, finalizedNumber } = commit
  if (orphanedBlocks.length > 0) await query(ORPHAN, [chainId, orphanedBlocks])
  // One statement may touch a row only once.
  const events = [
    ...new Map(commit.events.map(event => [`${event.blockHash} ${event.logIndex}`, event])).values(),
  ]
  const blocks = new Map(events.map(({ blockHash, blockNumber }) => [blockHash, blockNumber]))
  if (events.length > 0)
    await query(INSERT, [
      chainId,
      // Events found by a back-fill are final already, and are written once.
      finalizedNumber ?? -1,
      [...blocks.values()],
      [...blocks.keys()],
      atMs,
      events.map(({ blockHash }) => blockHash),
      events.map(({ poolAddress }) => poolAddress),
      events.map(({ kind }) => kind),
      events.map(({ logIndex }) => logIndex),
      events.map(({ body }) => packBody(body)),
    ])
  if (finalizedNumber !== null) await query(FINALIZE, [chainId, finalizedNumber])
}

/** The block of an event; null for an event from before, which has the hash of its block instead. */
export const BLOCK_OF = "CASE WHEN block_hash LIKE '0x%' THEN NULL ELSE block_hash::bigint END"

const PAGE = statement(`
  SELECT chain_id AS "chainId", pool_address AS "poolAddress", kind, block_number AS "blockNumber",
    hash AS "blockHash", log_index AS "logIndex", finality, body
  FROM (
    SELECT event.chain_id, pool_address, kind, event.block_number, log_index, body,
      coalesce(block.block_hash, event.block_hash) AS hash, coalesce(block.finality, event.finality) AS finality
    FROM (SELECT *, ${BLOCK_OF} AS block_id FROM pool_event) AS event
      LEFT JOIN event_block AS block ON block.id = block_id) AS listed
  WHERE chain_id = $1 AND pool_address = $2
    AND (block_number, log_index, hash) < ($3, $4, $5)
    AND block_number BETWEEN $6 AND $7
    AND ($8::text IS NULL OR kind = $8)
  ORDER BY block_number DESC, log_index DESC, hash DESC
  LIMIT $9`)

/** Newest first; the block's hash orders logs of two branches at the same position. */
export const eventReader = (connection: Connection): Pick<SnapshotStore, 'readEvents'> => ({
  async readEvents({ chainId, poolAddress, kind, fromBlock, toBlock, before, limit }) {
    const rows = await connection.query<EventRow>(PAGE, [
      chainId,
      poolAddress,
      before?.blockNumber ?? Number.MAX_SAFE_INTEGER,
      before?.logIndex ?? 0,
      before?.blockHash ?? '',
      fromBlock ?? 0,
      // As tight as the key allows, because the index search starts at this bound.
      Math.min(toBlock ?? Number.MAX_SAFE_INTEGER, before?.blockNumber ?? Number.MAX_SAFE_INTEGER),
      kind,
      rowLimit(limit),
    ])
    return rows.map(row => ({ ...row, body: unpackBody(row.body) }))
  },
})
