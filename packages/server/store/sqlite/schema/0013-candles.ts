/** Candles, built beside the commits; see `candles.ts`. */
export const candles = `
  -- Prices are 'numerator/denominator'; 'top_block' is the highest block of them.
  CREATE TABLE candle (
    chain_id INTEGER NOT NULL,
    token_address TEXT NOT NULL,
    interval_ms INTEGER NOT NULL,
    from_ms INTEGER NOT NULL,
    open TEXT NOT NULL,
    high TEXT NOT NULL,
    low TEXT NOT NULL,
    close TEXT NOT NULL,
    records INTEGER NOT NULL,
    top_block INTEGER NOT NULL,
    PRIMARY KEY (chain_id, token_address, interval_ms, from_ms)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX candle_by_block ON candle (chain_id, top_block);

  -- One row: the sequence up to which every price is in its candles.
  CREATE TABLE candle_progress (at INTEGER NOT NULL) STRICT;
  INSERT INTO candle_progress (at) VALUES (0);
`
