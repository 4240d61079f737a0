-- An order that cannot be admitted records it itself, like a transaction: how often, why, and when it is tried next.
ALTER TABLE open_orders
  ADD COLUMN attempts smallint NOT NULL DEFAULT 0,
  ADD COLUMN last_error text,
  ADD COLUMN retry_at timestamptz;
CREATE INDEX open_orders_failed ON open_orders (id) WHERE last_error IS NOT NULL;
