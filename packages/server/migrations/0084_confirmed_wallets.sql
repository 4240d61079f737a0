-- The epoch of the database in which the chain and the signer were last found to know no payment of a wallet that the database does not
-- know. After a restore there is a later one, and until the driver has asked them again, payments without a nonce may have been made.
ALTER TABLE chain_wallets ADD COLUMN confirmed_epoch bigint NOT NULL DEFAULT 0;
CREATE INDEX chain_wallets_unconfirmed ON chain_wallets (network, confirmed_epoch, wallet_id);
