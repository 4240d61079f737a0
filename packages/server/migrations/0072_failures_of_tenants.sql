-- Rows that could not be processed, by tenant. Those of transactions are served by open_transactions_to_retry_of_tenant.
CREATE INDEX open_orders_failed_of_tenant ON open_orders (tenant_id, retry_at, id) WHERE last_error IS NOT NULL;
CREATE INDEX wallets_failed_of_tenant ON wallets (tenant_id, retry_at, id) WHERE last_error IS NOT NULL;
CREATE INDEX pending_deliveries_failed_of_tenant ON pending_deliveries (tenant_id, due_at, id) WHERE last_error IS NOT NULL;
