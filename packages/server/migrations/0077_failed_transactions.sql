-- Transactions that could not be processed, by tenant. open_transactions_to_retry_of_tenant also has those that are held, which can be a million.
CREATE INDEX open_transactions_failed_of_tenant ON open_transactions (tenant_id, retry_at, id) WHERE last_error IS NOT NULL;
