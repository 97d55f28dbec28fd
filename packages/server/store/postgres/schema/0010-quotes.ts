/**
 * Full quotes are stored by commit, each piece once and compressed, and no longer by token. The quotes in 'token_quote'
 * are valid until the token's next record; an older program reads only that table, so it does not work with this
 * version.
 */
export const quotes = `
  -- The full quotes of a commit; gone when no token has its last one there.
  CREATE TABLE quote_book (
    chain_id BIGINT NOT NULL,
    step BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (chain_id, step)
  );
  -- What is compressed already is not tried again.
  ALTER TABLE quote_book ALTER COLUMN packed SET STORAGE EXTERNAL;

  -- Where the full quote of a token stands. 'last_priced' is JSON, of a token without a price.
  CREATE TABLE quote_place (
    chain_id BIGINT NOT NULL,
    token_address TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    step BIGINT NOT NULL,
    line BIGINT NOT NULL,
    last_priced TEXT,
    PRIMARY KEY (chain_id, token_address)
  );
  CREATE INDEX quote_place_by_step ON quote_place (chain_id, step);
`
