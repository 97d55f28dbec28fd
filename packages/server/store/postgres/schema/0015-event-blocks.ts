/**
 * Blocks of pool events: the hash of a block and its finality are stored once and no longer in each of its events, and
 * the text of an event is shorter (`eventBody.ts`). Events from before stay as they are; an older program finds neither
 * the hash nor the finality of new ones, so it does not work with this version.
 *
 * Entities are compressed with lz4 from now on; pglz takes half of the server's time for a commit. A server built without
 * lz4 stores them as they are, in two to three times the space: they are the state of the chains and do not grow with the log.
 */
export const eventBlocks = `
  CREATE TABLE event_block (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chain_id BIGINT NOT NULL,
    block_number BIGINT NOT NULL,
    block_hash TEXT COLLATE "C" NOT NULL,
    finality TEXT NOT NULL CHECK (finality IN ('canonical', 'finalized', 'orphaned')),
    UNIQUE (chain_id, block_hash)
  );
  CREATE INDEX event_block_pending ON event_block (chain_id, block_number) WHERE finality = 'canonical';
  COMMENT ON COLUMN pool_event.block_hash IS
    'The id of a row of event_block; in events up to schema version 14 the hash itself, which starts with 0x';
  COMMENT ON COLUMN pool_event.finality IS
    'Of an event up to schema version 14; of a newer one, that of its block counts';
  COMMENT ON COLUMN pool_event.body IS
    'See eventBody.ts; up to schema version 14 JSON of what the other columns do not tell, up to 6 of the whole event without its finality';

  DO $lz4$ BEGIN
    ALTER TABLE entity ALTER COLUMN text SET COMPRESSION lz4;
  EXCEPTION WHEN feature_not_supported THEN
    ALTER TABLE entity ALTER COLUMN text SET STORAGE EXTERNAL;
  END $lz4$;
`
