-- What the operator's commands did under a key, so that a command whose answer was lost can be repeated. Each row is written in the SQL
-- transaction of the command.
CREATE TABLE operator_requests (
  action text NOT NULL CHECK (action IN ('tenant.create', 'wallet.fund')),
  idempotency_key text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  request_hash bytea NOT NULL CHECK (length(request_hash) = 32),
  tenant_id uuid NOT NULL,
  -- The first client of the tenant, or the id of the funding in the ledger.
  object_id uuid NOT NULL,
  reference text CHECK (length(reference) BETWEEN 1 AND 128),
  -- The secret of the first client, encrypted. It is removed after a day.
  sealed_secret bytea,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (action, idempotency_key)
);

CREATE INDEX operator_requests_with_secret ON operator_requests (created_at) WHERE sealed_secret IS NOT NULL;
