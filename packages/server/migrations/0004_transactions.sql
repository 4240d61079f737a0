-- Wallets, the ledger and transactions. Every table is keyed by tenant first, so that a distributed PostgreSQL can shard by
-- tenant. A transaction's life is in three tables, and settling one on the book only inserts and deletes:
--   transactions       what was asked: written once, never changed
--   open_transactions  what is still to be done: gone when the transaction is final
--   events             what has happened: its state is that of its last event, or `accepted` before the first

CREATE TABLE wallets (
  tenant_id       uuid NOT NULL,
  id              uuid NOT NULL,
  name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
  purpose         text NOT NULL CHECK (purpose IN ('treasury', 'deposit', 'payout', 'settlement', 'fees')),
  network         text NOT NULL,
  -- The two wallets that every tenant is born with, which pay and are paid where a request names none.
  role            text CHECK (role IN ('primary', 'settlement')),
  state           text NOT NULL CHECK (state IN ('creating', 'active')),
  frozen          boolean NOT NULL DEFAULT false,
  version         integer NOT NULL,
  idempotency_key text,
  request_hash    bytea,
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, role),
  UNIQUE (tenant_id, idempotency_key)
);

-- Serves the engine, which brings new wallets to life.
CREATE INDEX wallets_creating ON wallets (id) WHERE state = 'creating';

-- What each owner has of each asset. An owner is a wallet, or the outside world (`is_external`), whose balance is the negative
-- of all that has come in: the sum over all accounts of an asset is zero.
CREATE TABLE ledger_accounts (
  tenant_id   uuid NOT NULL,
  owner_id    uuid NOT NULL,
  asset       text NOT NULL,
  is_external boolean NOT NULL DEFAULT false,
  available   numeric(78, 0) NOT NULL CHECK (is_external OR available >= 0),
  held        numeric(78, 0) NOT NULL CHECK (held >= 0),
  PRIMARY KEY (tenant_id, owner_id, asset)
);

-- Every movement of money: one row takes from one account and gives to another, so each sums to zero by its form.
CREATE TABLE ledger_entries (
  tenant_id      uuid NOT NULL,
  transaction_id uuid NOT NULL,
  line           smallint NOT NULL,
  debit_owner_id  uuid NOT NULL,
  credit_owner_id uuid NOT NULL,
  asset          text NOT NULL,
  amount         numeric(78, 0) NOT NULL CHECK (amount > 0),
  PRIMARY KEY (tenant_id, transaction_id, line)
);

CREATE TABLE transactions (
  tenant_id             uuid NOT NULL,
  id                    uuid NOT NULL,
  idempotency_key       text NOT NULL,
  request_hash          bytea NOT NULL,
  client_id             uuid NOT NULL,
  reference             text NOT NULL,
  asset                 text NOT NULL,
  amount                numeric(78, 0) NOT NULL CHECK (amount > 0),
  source_wallet_id      uuid NOT NULL,
  destination_wallet_id uuid NOT NULL,
  metadata              jsonb,
  expires_at            timestamptz,
  created_at            timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, idempotency_key)
);

-- Serve the filters of the list, newest first: an id begins with its time. Few assets are rare, so a list by asset reads the
-- primary key and passes over the others; each index here is paid for by every transaction.
CREATE INDEX transactions_by_reference ON transactions (tenant_id, reference, id DESC);
CREATE INDEX transactions_by_source ON transactions (tenant_id, source_wallet_id, id DESC);
CREATE INDEX transactions_by_destination ON transactions (tenant_id, destination_wallet_id, id DESC);

CREATE TABLE open_transactions (
  tenant_id uuid NOT NULL,
  id        uuid NOT NULL,
  state     text NOT NULL,
  version   integer NOT NULL,
  PRIMARY KEY (tenant_id, id)
);

-- Serves the engine's claim, oldest first over all tenants. The filter by an open state reads the primary key: few are open.
CREATE INDEX open_transactions_to_do ON open_transactions (id) WHERE state = 'accepted';

-- A tenant's counter of events. Its row is locked until the events that it counted are committed: no gap, and commit order.
CREATE TABLE event_sequences (
  tenant_id uuid PRIMARY KEY,
  sequence  bigint NOT NULL
);

CREATE TABLE events (
  tenant_id      uuid NOT NULL,
  sequence       bigint NOT NULL,
  event          text NOT NULL CHECK (event IN ('transaction.updated', 'wallet.updated')),
  subject_id     uuid NOT NULL,
  version        integer NOT NULL,
  state          text NOT NULL,
  previous_state text NOT NULL,
  failure_code   text,
  occurred_at    timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, sequence)
);

-- Serves the history of one subject.
CREATE UNIQUE INDEX events_by_subject ON events (tenant_id, subject_id, version);

-- Serves the filter by a final state: a transaction reaches one only once.
CREATE INDEX events_by_final_state ON events (tenant_id, state, subject_id DESC)
  WHERE event = 'transaction.updated' AND state IN ('completed', 'rejected', 'failed', 'cancelled');
