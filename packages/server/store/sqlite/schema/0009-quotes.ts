/**
 * Full quotes are stored by commit, each piece once and compressed, and no longer by token. The quotes in 'token_quote'
 * are valid until the token's next record; an older program reads only that table, so it does not work with this
 * version.
 */
export const quotes = `
  -- The full quotes of a commit; gone when no token has its last one there.
  CREATE TABLE quote_book (
    chain_id INTEGER NOT NULL,
    step INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (chain_id, step)
  ) STRICT;

  -- Where the full quote of a token stands. 'last_priced' is JSON, of a token without a price.
  CREATE TABLE quote_place (
    chain_id INTEGER NOT NULL,
    token_address TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    step INTEGER NOT NULL,
    line INTEGER NOT NULL,
    last_priced TEXT,
    PRIMARY KEY (chain_id, token_address)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX quote_place_by_step ON quote_place (chain_id, step);
`
