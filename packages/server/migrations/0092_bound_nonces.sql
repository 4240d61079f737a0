-- The nonce that the signer has bound a payment to, if it has refused to sign it with another. It can be below the final nonce of the wallet, where
-- the signer is no longer asked: such a payment gets no other nonce, and fills no gap. An earlier version does not know it, and is refused again.
ALTER TABLE chain_payments ADD COLUMN bound_nonce bigint;
ALTER TABLE chain_payments ADD CONSTRAINT chain_payments_bound_check CHECK (bound_nonce >= 0) NOT VALID;
