/**
 * Tables through which processes that share the database communicate. Only leases (`seat`) must survive a server
 * crash: their generations fence writers. The rest is unlogged, costs no sync, and is recreated on demand.
 */
export const roles = `
  -- Which process writes a chain, and the number of its turn; '' is nobody. 'beats' counts up while it lives.
  CREATE TABLE seat (
    chain_id BIGINT PRIMARY KEY,
    generation BIGINT NOT NULL,
    beats BIGINT NOT NULL,
    owner TEXT NOT NULL
  ) WITH (fillfactor = 10);

  -- The oldest program that works with this database, by the newest schema version it knows.
  CREATE TABLE compatibility (
    id INT PRIMARY KEY CHECK (id = 1),
    oldest INT NOT NULL
  );
  INSERT INTO compatibility (id, oldest) VALUES (1, 0);

  -- Questions to the process that writes a chain. 'taken' is the turn that works on it: a later one begins again.
  CREATE UNLOGGED TABLE letter (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chain_id BIGINT NOT NULL,
    asker TEXT NOT NULL,
    method TEXT NOT NULL,
    args TEXT NOT NULL,
    until TIMESTAMPTZ NOT NULL,
    taken BIGINT NOT NULL DEFAULT 0,
    result TEXT,
    failure TEXT
  );
  CREATE INDEX letter_open ON letter (chain_id, id) WHERE result IS NULL AND failure IS NULL;
  CREATE INDEX letter_answered ON letter (asker, id) WHERE result IS NOT NULL OR failure IS NOT NULL;

  -- Processes that serve the API, and how far the slowest replay of each has read.
  CREATE UNLOGGED TABLE node (
    node TEXT PRIMARY KEY,
    beat_at TIMESTAMPTZ NOT NULL,
    replayed BIGINT
  ) WITH (fillfactor = 10);

  CREATE UNLOGGED TABLE open_stream (
    node TEXT NOT NULL,
    consumer TEXT NOT NULL,
    streams INT NOT NULL,
    PRIMARY KEY (node, consumer)
  ) WITH (fillfactor = 50);
  CREATE INDEX open_stream_by_consumer ON open_stream (consumer);

  -- When all units a consumer has spent are earned back, in milliseconds of the server's clock.
  CREATE UNLOGGED TABLE spending (
    consumer TEXT PRIMARY KEY,
    earned_ms DOUBLE PRECISION NOT NULL
  ) WITH (fillfactor = 50);

  -- GCRA for everybody at once: grants at least 'need' units or none, and up to 'want'. The server's clock may be set
  -- back: nobody is ever further from a unit than a whole burst.
  CREATE FUNCTION take_units(who TEXT, need INT, want INT, unit_ms DOUBLE PRECISION, burst_ms DOUBLE PRECISION)
  RETURNS TABLE (granted INT, wait_ms DOUBLE PRECISION, rest INT) LANGUAGE plpgsql AS $$
  DECLARE
    now_ms DOUBLE PRECISION;
    earned DOUBLE PRECISION;
  BEGIN
    INSERT INTO spending (consumer, earned_ms) VALUES (who, 0) ON CONFLICT DO NOTHING;
    SELECT s.earned_ms INTO earned FROM spending AS s WHERE s.consumer = who FOR UPDATE;
    now_ms := extract(epoch FROM clock_timestamp()) * 1000;
    earned := least(greatest(earned, now_ms), now_ms + burst_ms);
    rest := floor((now_ms + burst_ms - earned) / unit_ms + 0.000001);
    IF rest < need THEN
      granted := 0;
      wait_ms := earned + need * unit_ms - now_ms - burst_ms;
    ELSE
      granted := least(rest, greatest(need, want));
      rest := rest - granted;
      earned := earned + granted * unit_ms;
      wait_ms := earned - now_ms;
      UPDATE spending AS s SET earned_ms = earned WHERE s.consumer = who;
    END IF;
    RETURN NEXT;
  END $$;
`
