-- Policy: what each tenant allows, how transactions were judged, and who agreed. A tenant that has written none has the built-in
-- policy, which is version 0.

-- Every version ever in force; the highest is. Writing one takes the next number, so two editors cannot both succeed.
CREATE TABLE policies (
  tenant_id  uuid NOT NULL,
  version    integer NOT NULL CHECK (version > 0),
  document   jsonb NOT NULL,
  client_id  uuid NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, version)
);

-- Addresses that a tenant has said money may go to. An entry counts from `effective_at` on. One that was removed is kept, so that its
-- idempotency key stays used: a request that is repeated late must not bring it back.
CREATE TABLE destinations (
  tenant_id       uuid NOT NULL,
  id              uuid NOT NULL,
  label           text NOT NULL CHECK (length(label) BETWEEN 1 AND 128),
  network         text NOT NULL,
  address         text NOT NULL,
  note            text,
  client_id       uuid NOT NULL,
  idempotency_key text,
  request_hash    bytea,
  created_at      timestamptz NOT NULL,
  effective_at    timestamptz NOT NULL,
  removed_at      timestamptz,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, idempotency_key)
);

-- No address twice; also serves the question whether one is listed.
CREATE UNIQUE INDEX destinations_listed ON destinations (tenant_id, network, address) WHERE removed_at IS NULL;

-- The version of the policy that was in force when the transaction was accepted, and has judged it where that was possible then.
ALTER TABLE transactions ADD COLUMN policy_version integer NOT NULL DEFAULT 0;

ALTER TABLE open_transactions
  -- Whether the engine is to judge it: the policy looks at sums, or asks for people.
  ADD COLUMN needs_judgement boolean NOT NULL DEFAULT false,
  -- When the engine is to look at one that waits for approval: when it expires, or at once when somebody has spoken.
  ADD COLUMN due_at timestamptz;

-- Serves the engine's look for those that wait no longer.
CREATE INDEX open_transactions_due ON open_transactions (due_at) WHERE state = 'awaiting_approval';

-- How the engine has judged, for the transactions that it was to judge. `requirement` is what people must do, fixed at that moment.
CREATE TABLE judgements (
  tenant_id      uuid NOT NULL,
  transaction_id uuid NOT NULL,
  policy_version integer NOT NULL,
  rule           text NOT NULL,
  reason         text,
  requirement    jsonb,
  judged_at      timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, transaction_id)
);

-- What people have said, each with the version of the transaction that it made.
CREATE TABLE approvals (
  tenant_id      uuid NOT NULL,
  transaction_id uuid NOT NULL,
  version        integer NOT NULL,
  client_id      uuid NOT NULL,
  decision       text NOT NULL CHECK (decision IN ('approve', 'reject')),
  comment        text,
  decided_at     timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, transaction_id, version)
);

-- Running totals of what counts towards limits, for each wallet, client and tenant, by asset and ('') over all. A row is the total
-- up to and including its time, so what a period holds is the difference of two rows, however much happened in it.
CREATE TABLE usage_totals (
  tenant_id uuid NOT NULL,
  scope     text NOT NULL CHECK (scope IN ('wallet', 'client', 'tenant')),
  scope_id  uuid NOT NULL,
  asset     text NOT NULL,
  at        timestamptz NOT NULL,
  sum       numeric(78, 0) NOT NULL,
  count     bigint NOT NULL,
  PRIMARY KEY (tenant_id, scope, scope_id, asset, at)
);

-- Serves the removal of what is older than any period.
CREATE INDEX usage_totals_by_age ON usage_totals (at);
