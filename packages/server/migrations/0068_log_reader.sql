-- What a reader of the event log writes: statements of wallets, and sums by time. How far it is, is in the same SQL transaction as what it
-- writes. Sums are not bounded in their digits, because they can be larger than any amount.
CREATE TABLE log_positions (
  tenant_id uuid PRIMARY KEY,
  sequence bigint NOT NULL CHECK (sequence >= 0)
);

-- One row for each change of a wallet's balance, with the balance after it.
CREATE TABLE wallet_entries (
  tenant_id uuid NOT NULL,
  wallet_id uuid NOT NULL,
  asset text NOT NULL,
  sequence bigint NOT NULL,
  line smallint NOT NULL,
  amount numeric NOT NULL,
  balance numeric NOT NULL,
  cause text NOT NULL CHECK (cause IN ('transaction', 'order')),
  cause_id uuid NOT NULL,
  occurred_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, wallet_id, asset, sequence, line)
);

CREATE TABLE wallet_periods (
  tenant_id uuid NOT NULL,
  wallet_id uuid NOT NULL,
  asset text NOT NULL,
  period text NOT NULL CHECK (period IN ('hour', 'day')),
  start timestamptz NOT NULL,
  received numeric NOT NULL,
  sent numeric NOT NULL,
  balance numeric NOT NULL,
  PRIMARY KEY (tenant_id, wallet_id, asset, period, start)
);

-- How many transactions have entered and left a state. The period `all` has one row, whose difference is what is in the state.
CREATE TABLE transaction_periods (
  tenant_id uuid NOT NULL,
  period text NOT NULL CHECK (period IN ('hour', 'day', 'all')),
  start timestamptz NOT NULL,
  state text NOT NULL,
  asset text NOT NULL,
  entered bigint NOT NULL,
  entered_amount numeric NOT NULL,
  left_count bigint NOT NULL,
  left_amount numeric NOT NULL,
  PRIMARY KEY (tenant_id, period, start, state, asset)
);
