-- Passkeys are keys of people. Their assertions are stored with decisions, like signatures of requests.
ALTER TABLE client_keys DROP CONSTRAINT client_keys_algorithm_check,
  ADD CONSTRAINT client_keys_algorithm_check CHECK (algorithm IN ('ed25519', 'hmac-sha256', 'passkey'));
ALTER TABLE approval_signatures DROP CONSTRAINT approval_signatures_algorithm_check,
  ADD CONSTRAINT approval_signatures_algorithm_check CHECK (algorithm IN ('ed25519', 'hmac-sha256', 'passkey'));
ALTER TABLE change_signatures DROP CONSTRAINT change_signatures_algorithm_check,
  ADD CONSTRAINT change_signatures_algorithm_check CHECK (algorithm IN ('ed25519', 'hmac-sha256', 'passkey'));

-- Sessions of the console.
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  tenant_id uuid NOT NULL,
  client_id uuid NOT NULL REFERENCES clients (id),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  credential_id uuid NOT NULL,
  address text NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  key_id text NOT NULL,
  mac bytea NOT NULL
);

CREATE INDEX sessions_by_client ON sessions (tenant_id, client_id, id DESC);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
