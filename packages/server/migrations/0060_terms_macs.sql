-- Authenticates the fees by which the next attempt of a payment is signed: a writer to the database could otherwise choose them.
ALTER TABLE chain_payments ADD COLUMN terms_key_id text, ADD COLUMN terms_mac bytea;
