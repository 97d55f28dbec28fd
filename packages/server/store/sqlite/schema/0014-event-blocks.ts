/**
 * Blocks of pool events: the hash of a block and its finality are stored once and no longer in each of its events, and
 * the text of an event is shorter (`eventBody.ts`). Events from before stay as they are; an older program finds neither
 * the hash nor the finality of new ones, so it does not work with this version.
 */
export const eventBlocks = `
  -- 'pool_event.block_hash' is now the id of a row here, and 'pool_event.finality' says nothing. In events from before it
  -- is the hash itself, which starts with 0x, and the finality is their own.
  CREATE TABLE event_block (
    id INTEGER PRIMARY KEY,
    chain_id INTEGER NOT NULL,
    block_number INTEGER NOT NULL,
    block_hash TEXT NOT NULL,
    finality TEXT NOT NULL CHECK (finality = 'canonical' OR finality = 'finalized' OR finality = 'orphaned'),
    UNIQUE (chain_id, block_hash)
  ) STRICT;
  CREATE INDEX event_block_pending ON event_block (chain_id, block_number) WHERE finality = 'canonical';
`
