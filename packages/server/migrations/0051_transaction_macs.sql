-- A MAC covers what decides where the money of a transaction goes, what approvals it requires, and that the engine has given it to a chain.
-- A row without one is not processed: transactions that are open during this migration have to be requested again.
ALTER TABLE transactions ADD COLUMN key_id text, ADD COLUMN mac bytea;
ALTER TABLE judgements ADD COLUMN key_id text, ADD COLUMN mac bytea;
ALTER TABLE chain_payments ADD COLUMN key_id text, ADD COLUMN mac bytea;

-- The address of a wallet, which others pay to, is authenticated too. A wallet without a MAC neither pays nor is paid.
ALTER TABLE chain_wallets ADD COLUMN key_id text, ADD COLUMN mac bytea;

-- What a sweep cancels names the client that requested it. One without a MAC is removed.
ALTER TABLE client_sweeps ADD COLUMN key_id text, ADD COLUMN mac bytea;

-- Approvals and records of commands are authenticated again when the master key is replaced; a key that was replaced forges none.
DELETE FROM retained_keys WHERE label IN ('approval', 'operator request');
