-- The signature of a request that decided a change request, so that the decision can be verified later. As for approvals of transactions,
-- `base` contains the access token of the request and is sealed by the master key.
CREATE TABLE change_signatures (
  tenant_id         uuid NOT NULL,
  change_request_id uuid NOT NULL,
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
  PRIMARY KEY (tenant_id, change_request_id, version)
);
