-- Payments that have no nonce, and that the signer has bound to one: a handful of all. A signer whose journal was restored from a backup does not list them.
CREATE INDEX chain_payments_bound ON chain_payments (wallet_id, bound_nonce) WHERE bound_nonce IS NOT NULL AND stage = 'ready';
