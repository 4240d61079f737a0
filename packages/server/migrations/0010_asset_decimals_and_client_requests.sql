-- How many decimals an asset had when it was first configured. Amounts are stored in its smallest unit, so that other decimals would
-- be other amounts; a start with others is refused.
CREATE TABLE asset_decimals (
  asset    text PRIMARY KEY,
  decimals integer NOT NULL CHECK (decimals BETWEEN 0 AND 18)
);

-- The secret or key that a request with an idempotency key has made, so that the same request again makes no other. It outlives what
-- it has made: a secret goes, its key stays used.
CREATE TABLE client_requests (
  tenant_id       uuid NOT NULL,
  action          text NOT NULL,
  idempotency_key text NOT NULL,
  request_hash    bytea NOT NULL CHECK (length(request_hash) = 32),
  client_id       uuid NOT NULL,
  object_id       uuid NOT NULL,
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, action, idempotency_key)
);
