-- What the signer has bound to a nonce, and would revert or cost too much, is stopped as well. The rows that exist have fewer reasons.
ALTER TABLE chain_payments
  DROP CONSTRAINT chain_payments_stop_reason_check,
  ADD CONSTRAINT chain_payments_stop_reason_check CHECK (stop_reason IN (
    'CANCEL_REQUESTED', 'WALLET_FROZEN', 'TENANT_SUSPENDED', 'ADDRESS_NOT_LISTED', 'EXPIRED', 'CLIENT_DISABLED', 'WOULD_REVERT',
    'FEE_TOO_HIGH')) NOT VALID;
