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
    previous_until_ms BIGINT,
    revision BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL
  );
  CREATE INDEX webhook_by_consumer ON webhook (consumer, created_at_ms);

  -- Apart from the webhook, because it is written often and small.
  CREATE TABLE webhook_place (
    webhook_id TEXT PRIMARY KEY REFERENCES webhook (webhook_id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    memory TEXT
  ) WITH (fillfactor = 50);

  CREATE TABLE webhook_delivery (
    webhook_id TEXT NOT NULL REFERENCES webhook (webhook_id) ON DELETE CASCADE,
    sequence BIGINT NOT NULL,
    state TEXT NOT NULL,
    body TEXT NOT NULL,
    matched_at_ms BIGINT NOT NULL,
    attempts INT NOT NULL,
    first_attempt_at_ms BIGINT,
    last_attempt_at_ms BIGINT,
    next_attempt_at_ms BIGINT NOT NULL,
    status INT,
    error TEXT,
    PRIMARY KEY (webhook_id, sequence)
  );
  CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook_id, sequence) WHERE state = 'PENDING';
  CREATE INDEX webhook_delivery_done ON webhook_delivery (last_attempt_at_ms) WHERE state = 'DELIVERED';

  -- The one process that matches and sends: its row is made when it is first needed.
  CREATE TABLE webhook_turn (
    id INT PRIMARY KEY CHECK (id = 1),
    generation BIGINT NOT NULL,
    beats BIGINT NOT NULL,
    owner TEXT NOT NULL,
    revision BIGINT NOT NULL
  ) WITH (fillfactor = 10);
`
