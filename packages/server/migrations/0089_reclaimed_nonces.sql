-- The lowest nonce that was given to a payment and taken back, because the signer has bound it, or the payment, otherwise. Until the wallet is
-- confirmed again, nonces from it on may have no payment here: the signer is asked about them, and they are given before the next one. An
-- earlier version does not know it, and confirms such a wallet without using them.
ALTER TABLE chain_wallets ADD COLUMN reclaimed_from bigint;
ALTER TABLE chain_wallets ADD CONSTRAINT chain_wallets_reclaimed_check CHECK (reclaimed_from >= 0) NOT VALID;
