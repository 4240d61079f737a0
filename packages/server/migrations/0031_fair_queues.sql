-- Queues are read tenant by tenant, so that a tenant with much to do does not delay another.
DROP INDEX open_transactions_to_do;
CREATE INDEX open_transactions_to_do ON open_transactions (tenant_id, id) WHERE state = 'accepted' AND retry_at IS NULL;
CREATE INDEX open_transactions_due_of_tenant ON open_transactions (tenant_id, due_at)
  WHERE state = 'awaiting_approval' AND retry_at IS NULL;
CREATE INDEX open_transactions_to_retry_of_tenant ON open_transactions (tenant_id, retry_at) WHERE retry_at IS NOT NULL;
DROP INDEX wallets_creating;
CREATE INDEX wallets_creating ON wallets (tenant_id, id) WHERE state = 'creating';

-- New orders, and orders with a change that waits, are claimed apart: changes are of older orders and would always come first.
DROP INDEX open_orders_to_do;
CREATE INDEX open_orders_new ON open_orders (market, tenant_id, id) WHERE sequence IS NULL;
CREATE INDEX open_orders_to_change ON open_orders (market, tenant_id, id)
  WHERE sequence IS NOT NULL AND (cancel_requested OR amend_size IS NOT NULL);

-- Tenants whose events cause more deliveries than the statement that appends them may write. The deliveries of all events after
-- `done_sequence` are still to be written; until then those of new events are too, so that they are written in the order of the log.
CREATE TABLE delivery_backlogs (
  tenant_id uuid NOT NULL PRIMARY KEY,
  done_sequence bigint NOT NULL
);

-- Deliveries that are written late go to the endpoints that were subscribed when the event happened: to an enabled endpoint if the event
-- came after the last change of its subscription, and to one that was changed in the meantime as it was before.
ALTER TABLE webhook_endpoints ADD COLUMN subscribed_after bigint NOT NULL DEFAULT 0;
CREATE TABLE past_subscriptions (
  tenant_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  after_sequence bigint NOT NULL,
  upto_sequence bigint NOT NULL,
  events text[] NOT NULL,
  PRIMARY KEY (tenant_id, upto_sequence, endpoint_id)
);
