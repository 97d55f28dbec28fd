/** The log, the position of each chain on it, and the engine's entities. */
export const log = `
  -- One row, and everybody who writes to the log takes it last. The next sequence to give out, how many were
  -- given out over all epochs, which claim may write ('generation', 'owner'), and on which timeline of the
  -- server the epoch was begun.
  CREATE TABLE head (
    id INT PRIMARY KEY CHECK (id = 1),
    epoch BIGINT NOT NULL,
    next BIGINT NOT NULL,
    written BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    owner TEXT NOT NULL,
    timeline TEXT NOT NULL
  ) WITH (fillfactor = 10);
  INSERT INTO head (id, epoch, next, written, generation, owner, timeline)
  VALUES (1, 0, 1, 0, 0, '', substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8));

  -- Up to a hundred consecutive records of one commit in a row, one envelope a line. 'written' counts records
  -- up to and including this row, for retention.
  CREATE TABLE log (
    last BIGINT PRIMARY KEY,
    count INT NOT NULL,
    written BIGINT NOT NULL,
    chain_id BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX log_by_chain ON log (chain_id, last);

  CREATE TABLE position (
    chain_id BIGINT PRIMARY KEY,
    step BIGINT NOT NULL,
    tip_number BIGINT,
    tip_hash TEXT,
    tip_time_ms BIGINT,
    at_ms BIGINT NOT NULL,
    first_sequence BIGINT,
    last_sequence BIGINT NOT NULL
  );

  CREATE TABLE entity (
    chain_id BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (chain_id, key)
  );

  CREATE TABLE input (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chain_id BIGINT NOT NULL,
    step BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (chain_id, step)
  );
`
