/** The progress of a chain's back-fill, and the pools it found. */
export const backfill = `
  CREATE TABLE backfill (
    chain_id BIGINT PRIMARY KEY,
    from_block BIGINT NOT NULL,
    to_block BIGINT NOT NULL,
    next_block BIGINT NOT NULL,
    events BIGINT NOT NULL,
    started_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL
  );

  CREATE TABLE found_pool (
    chain_id BIGINT NOT NULL,
    pool_address TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (chain_id, pool_address)
  );
`
