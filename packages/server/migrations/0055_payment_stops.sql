-- Why an empty transaction uses the nonce of a payment on a chain, and who has caused that. Null if none does, or its fee was refused.
ALTER TABLE chain_payments
  ADD COLUMN stop_reason text CHECK (stop_reason IN (
    'CANCEL_REQUESTED', 'WALLET_FROZEN', 'TENANT_SUSPENDED', 'ADDRESS_NOT_LISTED', 'EXPIRED', 'CLIENT_DISABLED')),
  ADD COLUMN stopped_by uuid;
