/** States of token records whose log rows retention has deleted; see `keptStates.ts`. */
export const keptStates = `
  -- 'last' is the sequence of the last state in the row, 'at_ms' when that was committed.
  CREATE TABLE kept_state (
    last BIGINT PRIMARY KEY,
    count BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    packed BYTEA NOT NULL
  );
  -- What is compressed already is not tried again.
  ALTER TABLE kept_state ALTER COLUMN packed SET STORAGE EXTERNAL;
`
