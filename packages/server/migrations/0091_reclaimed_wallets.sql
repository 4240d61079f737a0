-- A process of an earlier version confirms a wallet although nonces of it were taken back. It counts as unconfirmed, and is found by this index:
-- nearly no wallet is in it.
CREATE INDEX chain_wallets_reclaimed ON chain_wallets (network, confirmed_epoch, wallet_id) WHERE reclaimed_from IS NOT NULL;
