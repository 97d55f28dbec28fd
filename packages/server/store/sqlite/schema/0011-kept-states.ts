/** States of token records whose log rows retention has deleted; see `keptStates.ts`. */
export const keptStates = `
  -- 'last' is the sequence of the last state in the row, 'at_ms' when that was committed.
  CREATE TABLE kept_state (
    last INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    packed BLOB NOT NULL
  ) STRICT;
`
