/**
 * The condition of the partial index `outbox_open`; a query must repeat it literally for SQLite to use the index. No `IN` here nor in
 * CHECKs: SQLite would build its list anew for each row that is inserted (measured: 20 µs).
 */
export const openCondition = `state <> 'delivered' AND state <> 'acknowledged' AND state <> 'rejected' AND state <> 'superseded'`;

/**
 * The schema (architecture §3), one entry a version; `PRAGMA user_version` counts those applied. Entries are never changed once
 * released, only added. auto_vacuum is set before the first of them, since it cannot be changed once a table exists.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE certificate (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, der BLOB NOT NULL) STRICT;

  -- routing, second_keys and warnings are JSON; expired_at: when its first-layer key went (expired, or moved to a newer message)
  CREATE TABLE message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sender TEXT NOT NULL,
    message_id TEXT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose = 'deliver' OR purpose = 'review' OR purpose = 'test'),
    eb_timestamp INTEGER NOT NULL,
    eb_timestamp_text TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    content_digest BLOB NOT NULL,
    fingerprint TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    outside_window INTEGER NOT NULL,
    supersedes TEXT,
    after_power_loss TEXT,
    duplicate_of INTEGER, -- the message whose interchanges this one repeats
    suppressions INTEGER NOT NULL DEFAULT 0,
    expired_at INTEGER,
    remote_address TEXT NOT NULL,
    routing TEXT NOT NULL,
    second_keys TEXT NOT NULL,
    warnings TEXT NOT NULL
  ) STRICT;
  CREATE INDEX message_by_message_id ON message (message_id);
  CREATE INDEX message_duplicate ON message (duplicate_of) WHERE duplicate_of IS NOT NULL;
  CREATE INDEX message_by_sender ON message (sender);
  CREATE INDEX message_expired ON message (received_at) WHERE expired_at IS NOT NULL;

  -- base: max(received_at, eb_timestamp), kept so that a lengthened window can extend expires_at = base + window
  CREATE TABLE message_key (
    sender TEXT NOT NULL,
    message_id TEXT NOT NULL,
    message INTEGER NOT NULL,
    base INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (sender, message_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX message_key_by_expiry ON message_key (expires_at);

  -- every content that came under a key: a repeat is compared with all of them that no operator rejected
  CREATE TABLE interchange (
    layer TEXT NOT NULL,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    content_digest BLOB NOT NULL,
    message INTEGER NOT NULL,
    date_time TEXT,
    base INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    rejected INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (layer, scope, key, content_digest, message)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX interchange_by_expiry ON interchange (expires_at);

  CREATE TABLE receipt (
    id INTEGER PRIMARY KEY,
    message INTEGER NOT NULL REFERENCES message ON DELETE CASCADE,
    reference_set BLOB NOT NULL,
    at INTEGER NOT NULL,
    chain TEXT NOT NULL, -- certificate ids, the signer's first
    status INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (message, reference_set)
  ) STRICT;

  CREATE TABLE request (
    digest BLOB PRIMARY KEY,
    receipt INTEGER NOT NULL,
    message INTEGER NOT NULL REFERENCES message ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX request_by_message ON request (message);

  CREATE TABLE payload (
    id INTEGER PRIMARY KEY,
    message INTEGER NOT NULL REFERENCES message ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    at INTEGER NOT NULL,
    href TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    character_set TEXT,
    compressed INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    purged_at INTEGER,
    file TEXT,
    data BLOB,
    UNIQUE (message, ordinal)
  ) STRICT;
  CREATE INDEX payload_kept ON payload (at) WHERE purged_at IS NULL;
  CREATE INDEX payload_file ON payload (file) WHERE file IS NOT NULL;

  CREATE TABLE evidence (
    receipt INTEGER PRIMARY KEY REFERENCES receipt ON DELETE CASCADE,
    message INTEGER NOT NULL,
    at INTEGER NOT NULL,
    envelope BLOB NOT NULL
  ) STRICT;
  CREATE INDEX evidence_by_time ON evidence (at);

  -- state: 'evidence' (its sender was told failure), 'dismissed' (that, once an operator has seen it), 'review', 'approved' (copy is the
  -- message made of it), 'rejected'
  CREATE TABLE held (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sender TEXT NOT NULL,
    message_id TEXT NOT NULL,
    content_digest BLOB NOT NULL,
    message INTEGER NOT NULL,
    state TEXT NOT NULL,
    copy INTEGER,
    reference_set BLOB NOT NULL,
    chain TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    repeats INTEGER NOT NULL DEFAULT 0,
    eb_timestamp INTEGER NOT NULL,
    eb_timestamp_text TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    rule TEXT NOT NULL,
    window INTEGER NOT NULL,
    remote_address TEXT NOT NULL,
    routing TEXT NOT NULL,
    second_keys TEXT NOT NULL,
    warnings TEXT NOT NULL,
    envelope BLOB NOT NULL,
    UNIQUE (sender, message_id, content_digest)
  ) STRICT;
  CREATE INDEX held_by_time ON held (last_at);
  CREATE INDEX held_waiting ON held (id) WHERE state = 'review' OR state = 'evidence';
  CREATE INDEX held_by_message ON held (message);
  CREATE TABLE held_receipt (
    held INTEGER NOT NULL REFERENCES held ON DELETE CASCADE,
    reference_set BLOB NOT NULL,
    at INTEGER NOT NULL,
    chain TEXT NOT NULL,
    status INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    body BLOB NOT NULL,
    envelope BLOB NOT NULL,
    UNIQUE (held, reference_set)
  ) STRICT;
  CREATE TABLE held_payload (
    held INTEGER NOT NULL REFERENCES held ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    href TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    character_set TEXT,
    compressed INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    file TEXT,
    data BLOB,
    UNIQUE (held, ordinal)
  ) STRICT;
  CREATE INDEX held_payload_file ON held_payload (file) WHERE file IS NOT NULL;

  CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    message INTEGER NOT NULL REFERENCES message ON DELETE CASCADE,
    redelivery INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state = 'received' OR state = 'handingOver' OR state = 'delivered' OR state = 'acknowledged'
      OR state = 'review' OR state = 'rejected' OR state = 'superseded' OR state = 'unknown' OR state = 'undeliverable'),
    at INTEGER NOT NULL,
    boot_id TEXT,
    directory TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    possible_duplicate INTEGER NOT NULL DEFAULT 0,
    UNIQUE (message, redelivery)
  ) STRICT;
  CREATE INDEX outbox_open ON outbox (state, number)
    WHERE ${openCondition};

  CREATE TABLE decision (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    message INTEGER,
    sender TEXT,
    message_id TEXT,
    layer TEXT,
    key TEXT,
    decision TEXT NOT NULL,
    rule TEXT,
    policy_version TEXT,
    state_before TEXT,
    state_after TEXT,
    existing INTEGER,
    existing_message_id TEXT,
    window_expires INTEGER,
    remote_address TEXT,
    fingerprint TEXT,
    reference_set BLOB,
    actor TEXT,
    os_user TEXT,
    host TEXT,
    reason TEXT,
    detail TEXT -- JSON
  ) STRICT;
  CREATE INDEX decision_by_message ON decision (message);
  CREATE INDEX decision_by_actor ON decision (at) WHERE actor IS NOT NULL;
  -- the running hash over it, and up to where rows were purged: there the chain restarts with the hash on record
  CREATE TABLE audit_hash (up_to INTEGER PRIMARY KEY, hash TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TABLE audit_checkpoint (up_to INTEGER PRIMARY KEY, hash TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TRIGGER decision_no_update BEFORE UPDATE ON decision BEGIN SELECT RAISE(ABORT, 'decision is append-only'); END;
  CREATE TRIGGER decision_no_delete BEFORE DELETE ON decision
    WHEN OLD.id > coalesce((SELECT max(up_to) FROM audit_checkpoint), 0)
    BEGIN SELECT RAISE(ABORT, 'decision is append-only'); END;
  CREATE TRIGGER audit_checkpoint_no_update BEFORE UPDATE ON audit_checkpoint
    BEGIN SELECT RAISE(ABORT, 'audit_checkpoint is append-only'); END;
  CREATE TRIGGER audit_checkpoint_no_delete BEFORE DELETE ON audit_checkpoint
    BEGIN SELECT RAISE(ABORT, 'audit_checkpoint is append-only'); END;

  CREATE TABLE heartbeat (at INTEGER PRIMARY KEY) STRICT;

  CREATE TABLE suppression (
    message INTEGER NOT NULL REFERENCES message ON DELETE CASCADE,
    hour INTEGER NOT NULL, -- epoch ms of its start
    decision TEXT NOT NULL,
    count INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (message, hour, decision)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE refusal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    code TEXT NOT NULL,
    reason TEXT NOT NULL,
    text TEXT NOT NULL,
    remote_address TEXT NOT NULL,
    sender TEXT,
    message_id TEXT,
    claimed_message_id TEXT,
    fingerprint TEXT
  ) STRICT;
  `,
  `
  -- JSON of eb:PartProperties; messages from before had them dropped
  ALTER TABLE payload ADD COLUMN properties TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE held_payload ADD COLUMN properties TEXT NOT NULL DEFAULT '[]';
  `,
  `
  -- refusals of authenticated access points are listed beside the ring
  CREATE INDEX decision_refused ON decision (id) WHERE decision = 'refuse';
  `,
];
