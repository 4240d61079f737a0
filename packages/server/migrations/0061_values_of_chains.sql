-- A value that is no number cannot be read as an amount, and one such row stopped what is listed together with it. Rows that exist are not
-- read, so that the tables are locked only for a moment: the service has never written such a value.
ALTER TABLE chain_attempts ADD CONSTRAINT chain_attempts_values_check CHECK (
  gas_limit > 0 AND gas_limit <> 'NaN' AND max_fee >= 0 AND max_fee <> 'NaN' AND max_tip >= 0 AND max_tip <> 'NaN') NOT VALID;
ALTER TABLE chain_payments ADD CONSTRAINT chain_payments_values_check CHECK (
  (gas_limit > 0 AND gas_limit <> 'NaN' AND max_fee >= 0 AND max_fee <> 'NaN' AND max_tip >= 0 AND max_tip <> 'NaN')
  IS NOT FALSE AND data_fee >= 0 AND data_fee <> 'NaN' AND (fee >= 0 AND fee <> 'NaN') IS NOT FALSE) NOT VALID;
ALTER TABLE chain_payments ADD CONSTRAINT chain_payments_terms_check CHECK (
  stage NOT IN ('assigned', 'signed') OR num_nulls(gas_limit, max_fee, max_tip, terms_number) = 0) NOT VALID;
ALTER TABLE chain_payments ADD CONSTRAINT chain_payments_included_check CHECK (
  stage <> 'included' OR num_nulls(included_hash, block_hash, succeeded, fee) = 0) NOT VALID;
-- Nonces above this are not exact in the service.
ALTER TABLE chain_payments ADD CONSTRAINT chain_payments_nonce_max CHECK (nonce < 9007199254740992) NOT VALID;
ALTER TABLE chain_wallets ADD CONSTRAINT chain_wallets_nonce_max CHECK (next_nonce < 9007199254740992) NOT VALID;
ALTER TABLE chain_deposits ADD CONSTRAINT chain_deposits_values_check CHECK (amount <> 'NaN') NOT VALID;
ALTER TABLE chain_holdings ADD CONSTRAINT chain_holdings_values_check CHECK (gathered <> 'NaN' AND on_chain <> 'NaN') NOT VALID;
ALTER TABLE ledger_accounts ADD CONSTRAINT ledger_accounts_values_check CHECK (available <> 'NaN' AND held <> 'NaN') NOT VALID;
ALTER TABLE transactions ADD CONSTRAINT transactions_values_check CHECK (amount <> 'NaN') NOT VALID;
ALTER TABLE open_transactions ADD CONSTRAINT open_transactions_values_check CHECK (fee_held <> 'NaN') NOT VALID;
