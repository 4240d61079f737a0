-- The client that created the wallet; null for the two wallets that every tenant starts with, and for older ones.
ALTER TABLE wallets ADD COLUMN created_by uuid;
