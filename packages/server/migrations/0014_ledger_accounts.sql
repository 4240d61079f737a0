-- An account of the ledger is named by an id and has a kind: a wallet, everything outside a network, the market that a tenant
-- trades on, or the wallet that fees are paid to. Only what stands for others may be negative.
ALTER TABLE ledger_accounts RENAME COLUMN owner_id TO account_id;
ALTER TABLE ledger_accounts ADD COLUMN kind text NOT NULL DEFAULT 'wallet';
UPDATE ledger_accounts SET kind = CASE account_id
    WHEN '00000000-0000-8000-8000-000000000002' THEN 'market'
    WHEN '00000000-0000-8000-8000-0000000000a3' THEN 'fees'
    ELSE 'external' END
  WHERE is_external OR account_id = '00000000-0000-8000-8000-0000000000a3';
ALTER TABLE ledger_accounts
  ALTER COLUMN kind DROP DEFAULT,
  DROP COLUMN is_external,
  ADD CHECK (kind IN ('wallet', 'external', 'market', 'fees')),
  ADD CHECK (available >= 0 OR kind IN ('external', 'market'));

ALTER TABLE ledger_entries RENAME COLUMN debit_owner_id TO debit_account_id;
ALTER TABLE ledger_entries RENAME COLUMN credit_owner_id TO credit_account_id;

-- Either side of a transaction is a wallet, or the external account of its network with an address there.
ALTER TABLE transactions RENAME COLUMN source_wallet_id TO source_account_id;
ALTER TABLE transactions RENAME COLUMN destination_wallet_id TO destination_account_id;
ALTER TABLE transactions
  ADD COLUMN kind text NOT NULL DEFAULT 'transfer' CHECK (kind IN ('transfer', 'payout', 'deposit', 'sweep', 'refuel')),
  ADD COLUMN source_address text,
  ADD COLUMN destination_address text;

ALTER TABLE open_transactions
  -- A row that cannot be processed: how often that was tried, why it failed last, and when it is tried next.
  ADD COLUMN attempts smallint NOT NULL DEFAULT 0,
  ADD COLUMN last_error text,
  ADD COLUMN retry_at timestamptz,
  -- Its client wants it cancelled; the rail answers.
  ADD COLUMN cancel_requested boolean NOT NULL DEFAULT false,
  -- What its rail has held for the fee, in the source account.
  ADD COLUMN fee_asset text,
  ADD COLUMN fee_held numeric(78, 0) NOT NULL DEFAULT 0 CHECK (fee_held >= 0),
  ADD CHECK (fee_held = 0 OR fee_asset IS NOT NULL);

-- Serve the engine's claims. A row that waits to be tried again is in none of the first two, so it holds up no others.
DROP INDEX open_transactions_to_do;
CREATE INDEX open_transactions_to_do ON open_transactions (id) WHERE state = 'accepted' AND retry_at IS NULL;
DROP INDEX open_transactions_due;
CREATE INDEX open_transactions_due ON open_transactions (due_at) WHERE state = 'awaiting_approval' AND retry_at IS NULL;
CREATE INDEX open_transactions_to_retry ON open_transactions (retry_at) WHERE retry_at IS NOT NULL;
-- Serves the operator's list of what failed.
CREATE INDEX open_transactions_failed ON open_transactions (id) WHERE last_error IS NOT NULL;
