-- A sweep passes over what the engine has set aside in pages, so the index has the whole order.
DROP INDEX open_transactions_to_retry_of_tenant;
CREATE INDEX open_transactions_to_retry_of_tenant ON open_transactions (tenant_id, retry_at, id) WHERE retry_at IS NOT NULL;

-- An approval counts only with a MAC: a writer to the database cannot add one. One from before has to be given again.
ALTER TABLE approvals ADD COLUMN key_id text, ADD COLUMN mac bytea;
