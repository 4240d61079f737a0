-- A deposit is nobody's request.
ALTER TABLE transactions ALTER COLUMN client_id DROP NOT NULL;
ALTER TABLE transactions ADD CHECK (client_id IS NOT NULL OR kind = 'deposit');

-- Serves the drivers of rails: what is under way on a network. Few rows are at any time.
CREATE INDEX open_transactions_on_rails ON open_transactions (id) WHERE state IN ('processing', 'broadcast', 'confirming');
