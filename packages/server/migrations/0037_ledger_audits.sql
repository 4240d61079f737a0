-- The last run of `bursar audit ledger`, for the metrics: when it ended, and how many rules it found violated.
CREATE TABLE ledger_audits (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  finished_at timestamptz NOT NULL,
  violated integer NOT NULL CHECK (violated >= 0)
);

-- For the metrics: the endpoints that the service has disabled.
CREATE INDEX webhook_endpoints_disabled ON webhook_endpoints (disabled_reason, disabled_at)
  WHERE state = 'disabled' AND disabled_reason <> 'requested';
