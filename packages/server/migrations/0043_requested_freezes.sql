-- Wallets whose freeze is waiting for the payments that have them locked. What is claimed from now on obeys it and does not lock the
-- wallet, so that others cannot keep the freeze waiting. A row counts until its time only, in case its process ends before the freeze.
CREATE TABLE requested_freezes (
  tenant_id uuid NOT NULL,
  wallet_id uuid NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, wallet_id)
);
