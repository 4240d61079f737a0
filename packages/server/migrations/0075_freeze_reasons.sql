-- Why a wallet is frozen, and the reasons that actors give in the audit log. The hash of an entry covers its reason, if it has one.
ALTER TABLE wallets ADD COLUMN frozen_reason text;
ALTER TABLE wallets ADD CONSTRAINT wallets_frozen_reason_check CHECK (length(frozen_reason) BETWEEN 1 AND 256) NOT VALID;
ALTER TABLE audit_entries ADD COLUMN reason text;
