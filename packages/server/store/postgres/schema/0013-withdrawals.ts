/** What reorganisations withdrew; see `withdrawals.ts`. An older program would commit without writing it. */
export const withdrawals = `
  CREATE TABLE withdrawal (
    chain_id BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    block_number BIGINT NOT NULL,
    kept_hash TEXT COLLATE "C",
    PRIMARY KEY (chain_id, sequence)
  );

  -- The part of the log that is older than the table: read up to 'at', to be read up to 'until'. One row, or none left.
  CREATE TABLE withdrawal_scan (at BIGINT NOT NULL, until BIGINT NOT NULL);
  INSERT INTO withdrawal_scan (at, until)
  SELECT (SELECT last - count FROM log ORDER BY last LIMIT 1), next - 1 FROM head
  WHERE EXISTS (SELECT 1 FROM log);
`
