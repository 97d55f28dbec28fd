/** Receivers, how far the log has been matched for each, and the deliveries still to be made. */
export const webhooks = `
  CREATE TABLE webhook (
    webhook_id TEXT PRIMARY KEY,
    consumer TEXT NOT NULL REFERENCES consumer (consumer),
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    condition TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    -- Recoverable, because messages are signed with them: whoever reads the database can sign.
    secret TEXT NOT NULL,
    previous_secret TEXT,
    previous_until_ms INTEGER,
    revision INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX webhook_by_consumer ON webhook (consumer, created_at_ms);

  -- Apart from the webhook, because it is written often and small.
  CREATE TABLE webhook_place (
    webhook_id TEXT PRIMARY KEY REFERENCES webhook (webhook_id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    memory TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE webhook_delivery (
    webhook_id TEXT NOT NULL REFERENCES webhook (webhook_id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    state TEXT NOT NULL,
    body TEXT NOT NULL,
    matched_at_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    first_attempt_at_ms INTEGER,
    last_attempt_at_ms INTEGER,
    next_attempt_at_ms INTEGER NOT NULL,
    status INTEGER,
    error TEXT,
    PRIMARY KEY (webhook_id, sequence)
  ) STRICT;
  CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook_id, sequence) WHERE state = 'PENDING';
  CREATE INDEX webhook_delivery_done ON webhook_delivery (last_attempt_at_ms) WHERE state = 'DELIVERED';

  -- The one process that matches and sends: its row is made when it is first needed.
  CREATE TABLE webhook_turn (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    generation INTEGER NOT NULL,
    beats INTEGER NOT NULL,
    owner TEXT NOT NULL,
    revision INTEGER NOT NULL
  ) STRICT;
`
