/**
 * Pools, tokens and their current states. Facts, state and quote are in separate tables: they change at different times
 * and differ in size, and a state may be known before its facts.
 *
 * Checks are written out: for a list after IN, SQLite builds a temporary table with every row, a third of the time an
 * event takes.
 */
export const market = `
  CREATE TABLE pool (
    chain_id INTEGER NOT NULL,
    pool_address TEXT NOT NULL,
    family TEXT NOT NULL,
    deployment_id TEXT NOT NULL,
    fee_ppm INTEGER NOT NULL,
    token0 TEXT NOT NULL,
    token1 TEXT NOT NULL,
    created_block INTEGER,
    PRIMARY KEY (chain_id, pool_address)
  ) STRICT;
  CREATE INDEX pool_by_token0 ON pool (token0, chain_id, pool_address);
  CREATE INDEX pool_by_token1 ON pool (token1, chain_id, pool_address);
  CREATE INDEX pool_by_address ON pool (pool_address, chain_id);

  -- 'record_id' and 'sequence' are of the last record about the pool, whatever it said.
  CREATE TABLE pool_state (
    chain_id INTEGER NOT NULL,
    pool_address TEXT NOT NULL,
    record_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    state TEXT,
    PRIMARY KEY (chain_id, pool_address)
  ) STRICT;

  CREATE TABLE token (
    chain_id INTEGER NOT NULL,
    token_address TEXT NOT NULL,
    symbol TEXT,
    name TEXT,
    decimals INTEGER,
    role TEXT NOT NULL CHECK (role = 'STABLE' OR role = 'ROUTING' OR role = 'TOKEN'),
    enrolled_at_ms INTEGER,
    PRIMARY KEY (chain_id, token_address)
  ) STRICT;
  CREATE INDEX token_by_address ON token (token_address, chain_id);

  CREATE TABLE token_price (
    chain_id INTEGER NOT NULL,
    token_address TEXT NOT NULL,
    record_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    price TEXT,
    PRIMARY KEY (chain_id, token_address)
  ) STRICT;

  CREATE TABLE token_quote (
    chain_id INTEGER NOT NULL,
    token_address TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    quote TEXT NOT NULL,
    PRIMARY KEY (chain_id, token_address)
  ) STRICT;

  CREATE TABLE feed_health (
    chain_id INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL,
    health TEXT NOT NULL
  ) STRICT;

  CREATE TABLE pool_event (
    id INTEGER PRIMARY KEY,
    chain_id INTEGER NOT NULL,
    pool_address TEXT NOT NULL,
    kind TEXT NOT NULL,
    block_number INTEGER NOT NULL,
    block_hash TEXT NOT NULL,
    log_index INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    finality TEXT NOT NULL CHECK (finality = 'canonical' OR finality = 'finalized' OR finality = 'orphaned'),
    body TEXT NOT NULL,
    UNIQUE (chain_id, block_hash, log_index)
  ) STRICT;
  -- Without the hash, which only tells branches apart: a block writes to as many pages of this index as it
  -- touches pools.
  CREATE INDEX pool_event_by_pool ON pool_event (chain_id, pool_address, block_number, log_index);
  CREATE INDEX pool_event_pending ON pool_event (chain_id, block_number) WHERE finality = 'canonical';
`
