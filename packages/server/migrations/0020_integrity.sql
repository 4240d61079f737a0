-- What a writer to the database must not be able to forge is authenticated with keys derived from the master key.

-- Derived keys that are needed for as long as what they have authenticated, also after their master key was replaced. Each is
-- encrypted with the current master key. A database without any has not been authenticated yet.
CREATE TABLE retained_keys (
  key_id text NOT NULL,
  label  text NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (key_id, label)
);

-- The hash of an entry is an HMAC with the key of this master key. Entries without a key are from before: plain SHA-256.
ALTER TABLE audit_entries ADD COLUMN key_id text;

-- The MAC of a head covers its position and hash, so that the end of a chain cannot be moved back. The checkpoint is the last
-- position that was signed and published.
ALTER TABLE audit_heads
  ADD COLUMN key_id text,
  ADD COLUMN mac bytea,
  ADD COLUMN checkpoint_number bigint NOT NULL DEFAULT 0,
  ADD COLUMN checkpoint_at timestamptz NOT NULL DEFAULT '-infinity';

-- Serves the search for chains that have grown since their last checkpoint.
CREATE INDEX audit_heads_without_checkpoint ON audit_heads (checkpoint_at) WHERE number > checkpoint_number;

-- The last entry that was exported and removed. The chain that is kept continues from its hash.
CREATE TABLE audit_bases (
  tenant_id uuid PRIMARY KEY,
  number    bigint NOT NULL,
  hash      bytea NOT NULL,
  key_id    text NOT NULL,
  mac       bytea NOT NULL,
  pruned_at timestamptz NOT NULL
);

-- `bursar audit prune` removes exported entries. It runs as the owner of the table: the role of the service may not delete.
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'audit_entries' AND current_setting('bursar.audit_prune', true) = 'on' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only';
END
$$;

-- The MAC of a client covers its row and `credentials`, which has the digest of every secret and key by its id. A secret's hash is
-- an HMAC with the key that `key_id` names.
ALTER TABLE clients ADD COLUMN credentials jsonb, ADD COLUMN key_id text, ADD COLUMN mac bytea;
ALTER TABLE client_secrets ADD COLUMN key_id text, ADD COLUMN last_used_at timestamptz;
ALTER TABLE client_keys ADD COLUMN expires_at timestamptz, ADD COLUMN last_used_at timestamptz;

-- Serves the removal of what has expired.
CREATE INDEX client_keys_by_expiry ON client_keys (expires_at) WHERE expires_at IS NOT NULL;
