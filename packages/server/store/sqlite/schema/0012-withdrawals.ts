/** What reorganisations withdrew; see `withdrawals.ts`. An older program would commit without writing it. */
export const withdrawals = `
  CREATE TABLE withdrawal (
    chain_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    block_number INTEGER NOT NULL,
    kept_hash TEXT,
    PRIMARY KEY (chain_id, sequence)
  ) STRICT, WITHOUT ROWID;

  -- The part of the log that is older than the table: read up to 'at', to be read up to 'until'. One row, or none left.
  CREATE TABLE withdrawal_scan (at INTEGER NOT NULL, until INTEGER NOT NULL) STRICT;
  INSERT INTO withdrawal_scan (at, until)
  SELECT (SELECT last - count FROM log ORDER BY last LIMIT 1), next - 1 FROM head
  WHERE EXISTS (SELECT 1 FROM log);
`
