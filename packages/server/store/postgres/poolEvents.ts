/**
 * Events of pools, keyed by their position on the chain. Events of an orphaned block stay listed as orphaned; if the
 * block returns, they are canonical again.
 */
import type { EventRow, SnapshotStore, StepCommit } from '../port.ts'
import { rowLimit } from '../rowLimit.ts'
import { type Connection, type Query, statement } from './connection.ts'

const ORPHAN = statement(
  "UPDATE pool_event SET finality = 'orphaned' WHERE chain_id = $1 AND block_hash = ANY ($2::text[])",
)
const INSERT = statement(`
  INSERT INTO pool_event
    (chain_id, at_ms, finality, pool_address, kind, block_number, block_hash, log_index, body)
  SELECT $1, $2, CASE WHEN row.block_number <= $9 THEN 'finalized' ELSE 'canonical' END, row.*
  FROM unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::text[])
    AS row (pool_address, kind, block_number, block_hash, log_index, body)
  ON CONFLICT (chain_id, block_hash, log_index) DO UPDATE SET
    finality = CASE pool_event.finality WHEN 'finalized' THEN 'finalized' ELSE excluded.finality END,
    body = excluded.body`)
const FINALIZE = statement(
  "UPDATE pool_event SET finality = 'finalized' WHERE chain_id = $1 AND block_number <= $2 AND finality = 'canonical'",
)

type EventCommit = Pick<StepCommit, 'chainId' | 'atMs' | 'events' | 'orphanedBlocks' | 'finalizedNumber'>

/** In this order, because a block may be orphaned, return and become final in one step. */
export async function writeEvents(query: Query, commit: EventCommit): Promise<void> {
  const { chainId, atMs, orphanedBlocks, finalizedNumber } = commit
  if (orphanedBlocks.length > 0) await query(ORPHAN, [chainId, orphanedBlocks])
  // One statement may touch a row only once.
  const events = [
    ...new Map(commit.events.map(event => [`${event.blockHash} ${event.logIndex}`, event])).values(),
  ]
  if (events.length > 0)
    await query(INSERT, [
      chainId,
      atMs,
      events.map(({ poolAddress }) => poolAddress),
      events.map(({ kind }) => kind),
      events.map(({ blockNumber }) => blockNumber),
      events.map(({ blockHash }) => blockHash),
      events.map(({ logIndex }) => logIndex),
      events.map(({ body }) => body),
      // Events found by a back-fill are final already, and are written once.
      finalizedNumber ?? -1,
    ])
  if (finalizedNumber !== null) await query(FINALIZE, [chainId, finalizedNumber])
}

const PAGE = statement(`
  SELECT chain_id AS "chainId", pool_address AS "poolAddress", kind, block_number AS "blockNumber",
    block_hash AS "blockHash", log_index AS "logIndex", finality, body
  FROM pool_event
  WHERE chain_id = $1 AND pool_address = $2
    AND (block_number, log_index, block_hash) < ($3, $4, $5)
    AND block_number BETWEEN $6 AND $7
    AND ($8::text IS NULL OR kind = $8)
  ORDER BY block_number DESC, log_index DESC, block_hash DESC
  LIMIT $9`)

/** Newest first; the block's hash orders logs of two branches at the same position. */
export const eventReader = (connection: Connection): Pick<SnapshotStore, 'readEvents'> => ({
  readEvents: async ({ chainId, poolAddress, kind, fromBlock, toBlock, before, limit }) =>
    connection.query<EventRow>(PAGE, [
      chainId,
      poolAddress,
      before?.blockNumber ?? Number.MAX_SAFE_INTEGER,
      before?.logIndex ?? 0,
      before?.blockHash ?? '',
      fromBlock ?? 0,
      toBlock ?? Number.MAX_SAFE_INTEGER,
      kind,
      rowLimit(limit),
    ]),
})
