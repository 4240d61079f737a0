-- The signature of an approver's request, so that the decision can be verified later. `base` is what was signed: it contains the access
-- token of the request and is sealed by the master key, so that a reader of the database cannot use the token while it lasts.
CREATE TABLE approval_signatures (
  tenant_id         uuid NOT NULL,
  transaction_id    uuid NOT NULL,
  version           integer NOT NULL,
  key_id            uuid NOT NULL,
  algorithm         text NOT NULL CHECK (algorithm IN ('ed25519', 'hmac-sha256')),
  -- The raw public key at that time, because keys can be removed; null for a shared secret.
  public_key        bytea,
  params            text NOT NULL,
  signature         bytea NOT NULL,
  base              bytea NOT NULL,
  body              bytea NOT NULL,
  base_available_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, transaction_id, version)
);
