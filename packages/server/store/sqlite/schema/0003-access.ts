/** Who may use the service, the audit trail, and the secrets of the database itself. */
export const access = `
  -- 'limits' is JSON; null means the policy's defaults.
  CREATE TABLE consumer (
    consumer TEXT PRIMARY KEY,
    limits TEXT,
    created_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE api_key (
    key_id TEXT PRIMARY KEY,
    consumer TEXT NOT NULL REFERENCES consumer (consumer),
    name TEXT NOT NULL,
    secret_hash BLOB NOT NULL,
    scopes TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    revoked_at_ms INTEGER
  ) STRICT;
  CREATE INDEX api_key_by_consumer ON api_key (consumer);

  CREATE TABLE session (
    id_hash BLOB PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES api_key (key_id) ON DELETE CASCADE,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX session_by_key ON session (key_id, expires_at_ms);
  CREATE INDEX session_by_expiry ON session (expires_at_ms);

  CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT
  ) STRICT;
  CREATE INDEX audit_by_time ON audit (at_ms, id);

  -- Tokens enrolled on demand: who asked, and when one was last asked for.
  CREATE TABLE enrolment (
    chain_id INTEGER NOT NULL,
    token_address TEXT NOT NULL,
    consumer TEXT NOT NULL REFERENCES consumer (consumer),
    enrolled_at_ms INTEGER NOT NULL,
    last_asked_at_ms INTEGER NOT NULL,
    PRIMARY KEY (chain_id, token_address)
  ) STRICT;
  CREATE INDEX enrolment_by_consumer ON enrolment (consumer, enrolled_at_ms);
  CREATE INDEX enrolment_by_use ON enrolment (last_asked_at_ms);

  CREATE TABLE policy (
    policy_version TEXT PRIMARY KEY,
    policy TEXT NOT NULL,
    first_used_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
  ) STRICT;
`
