-- How many transactions of a halted wallet are final, as the operator states it. Null if nothing is stated.
ALTER TABLE chain_wallets ADD COLUMN stated_nonce bigint CHECK (stated_nonce >= 0);
