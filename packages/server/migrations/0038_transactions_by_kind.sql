-- Deposits, payouts and the like, newest first. Transfers, which are nearly all transactions, are not in it.
CREATE INDEX transactions_by_kind ON transactions (tenant_id, kind, id) WHERE kind <> 'transfer';
