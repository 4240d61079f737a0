-- A row that fails records it itself: how often, why, and when it is tried next. A pending delivery has a list of its attempts and its due
-- time already; its own failures, which no receiver is at fault for, are counted apart and move the due time.
ALTER TABLE wallets
  ADD COLUMN attempts smallint NOT NULL DEFAULT 0,
  ADD COLUMN last_error text,
  ADD COLUMN retry_at timestamptz;
CREATE INDEX wallets_failed ON wallets (id) WHERE last_error IS NOT NULL;

ALTER TABLE pending_deliveries
  ADD COLUMN failures smallint NOT NULL DEFAULT 0,
  ADD COLUMN last_error text;
CREATE INDEX pending_deliveries_failed ON pending_deliveries (id) WHERE last_error IS NOT NULL;
