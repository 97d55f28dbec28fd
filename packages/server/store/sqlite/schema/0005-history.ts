/** What was published about each token, in addition to the log that contains it in full. */
export const history = `
  -- One row a token record. 'price' is 'numerator/denominator', null for UNPRICED. Goes with its log row.
  CREATE TABLE token_history (
    sequence INTEGER PRIMARY KEY,
    chain_id INTEGER NOT NULL,
    token_address TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    block_number INTEGER NOT NULL,
    price TEXT,
    expires_at_ms INTEGER
  ) STRICT;
  CREATE INDEX token_history_by_time
    ON token_history (chain_id, token_address, at_ms, sequence, block_number);
`
