/**
 * Pools, tokens and their current states. Facts, state and quote are in separate tables: they change at different times
 * and differ in size, and a state may be known before its facts.
 */
export const market = `
  CREATE TABLE pool (
    chain_id BIGINT NOT NULL,
    pool_address TEXT COLLATE "C" NOT NULL,
    family TEXT NOT NULL,
    deployment_id TEXT NOT NULL,
    fee_ppm BIGINT NOT NULL,
    token0 TEXT COLLATE "C" NOT NULL,
    token1 TEXT COLLATE "C" NOT NULL,
    created_block BIGINT,
    PRIMARY KEY (chain_id, pool_address)
  );
  CREATE INDEX pool_by_token0 ON pool (token0, chain_id, pool_address);
  CREATE INDEX pool_by_token1 ON pool (token1, chain_id, pool_address);
  CREATE INDEX pool_by_address ON pool (pool_address, chain_id);

  -- 'record_id' and 'sequence' are of the last record about the pool, whatever it said.
  CREATE TABLE pool_state (
    chain_id BIGINT NOT NULL,
    pool_address TEXT COLLATE "C" NOT NULL,
    record_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    state TEXT,
    PRIMARY KEY (chain_id, pool_address)
  );

  -- Symbol and name are JSON strings: contracts say what they like, and a text of PostgreSQL holds no zero.
  CREATE TABLE token (
    chain_id BIGINT NOT NULL,
    token_address TEXT COLLATE "C" NOT NULL,
    symbol TEXT,
    name TEXT,
    decimals BIGINT,
    role TEXT NOT NULL CHECK (role IN ('STABLE', 'ROUTING', 'TOKEN')),
    enrolled_at_ms BIGINT,
    PRIMARY KEY (chain_id, token_address)
  );
  CREATE INDEX token_by_address ON token (token_address, chain_id);

  CREATE TABLE token_price (
    chain_id BIGINT NOT NULL,
    token_address TEXT COLLATE "C" NOT NULL,
    record_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    price TEXT,
    PRIMARY KEY (chain_id, token_address)
  );

  CREATE TABLE token_quote (
    chain_id BIGINT NOT NULL,
    token_address TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    quote TEXT NOT NULL,
    PRIMARY KEY (chain_id, token_address)
  );

  CREATE TABLE feed_health (
    chain_id BIGINT PRIMARY KEY,
    sequence BIGINT NOT NULL,
    health TEXT NOT NULL
  );

  CREATE TABLE pool_event (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chain_id BIGINT NOT NULL,
    pool_address TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    block_number BIGINT NOT NULL,
    block_hash TEXT COLLATE "C" NOT NULL,
    log_index BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    finality TEXT NOT NULL CHECK (finality IN ('canonical', 'finalized', 'orphaned')),
    body TEXT NOT NULL,
    UNIQUE (chain_id, block_hash, log_index)
  );
  CREATE INDEX pool_event_by_pool ON pool_event (chain_id, pool_address, block_number, log_index, block_hash);
  CREATE INDEX pool_event_pending ON pool_event (chain_id, block_number) WHERE finality = 'canonical';
`
