/** The progress of a chain's back-fill, and the pools it found. */
export const backfill = `
  CREATE TABLE backfill (
    chain_id INTEGER PRIMARY KEY,
    from_block INTEGER NOT NULL,
    to_block INTEGER NOT NULL,
    next_block INTEGER NOT NULL,
    events INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE found_pool (
    chain_id INTEGER NOT NULL,
    pool_address TEXT NOT NULL,
    PRIMARY KEY (chain_id, pool_address)
  ) STRICT, WITHOUT ROWID;
`
