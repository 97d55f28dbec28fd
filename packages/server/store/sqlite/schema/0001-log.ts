/** The log, the position of each chain on it, and the engine's entities. */
export const log = `
  CREATE TABLE migration (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at_ms INTEGER NOT NULL
  ) STRICT;

  -- One row. The next sequence to give out, and how many were given out over all epochs.
  CREATE TABLE head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL,
    next INTEGER NOT NULL,
    written INTEGER NOT NULL
  ) STRICT;
  INSERT INTO head (id, epoch, next, written) VALUES (1, 0, 1, 0);

  -- Up to a hundred consecutive records of one commit in a row, one envelope a line: replaying rows of one
  -- record costs several times as much. 'written' counts records up to and including this row, for retention.
  CREATE TABLE log (
    last INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    written INTEGER NOT NULL,
    chain_id INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX log_by_chain ON log (chain_id, last);

  CREATE TABLE position (
    chain_id INTEGER PRIMARY KEY,
    step INTEGER NOT NULL,
    tip_number INTEGER,
    tip_hash TEXT,
    tip_time_ms INTEGER,
    at_ms INTEGER NOT NULL,
    first_sequence INTEGER,
    last_sequence INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE entity (
    chain_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (chain_id, key)
  ) STRICT;

  CREATE TABLE input (
    id INTEGER PRIMARY KEY,
    chain_id INTEGER NOT NULL,
    step INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (chain_id, step)
  ) STRICT;
`
