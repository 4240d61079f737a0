-- The code of a wallet's halt. What a wallet with SETTLEMENT_FAILED has in final blocks is not settled until it is resumed.
ALTER TABLE chain_wallets ADD COLUMN halted_code text;
CREATE INDEX chain_wallets_halted ON chain_wallets (network) WHERE halted_reason IS NOT NULL;
