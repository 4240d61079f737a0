-- Quotas that differ from the service's own, by the class of the requests.
ALTER TABLE clients ADD COLUMN quotas jsonb NOT NULL DEFAULT '{}';

-- What is left of each client's quotas. Processes take tokens from here ahead of need, a slice at a time. Not logged: after a crash
-- of the database every bucket is full again, which is cheaper than a write to disk for each slice.
CREATE UNLOGGED TABLE quota_buckets (
  tenant_id uuid NOT NULL,
  client_id uuid NOT NULL,
  class     text NOT NULL,
  -- How many there were, and when, in milliseconds by the database's clock: the one clock that all processes share.
  tokens    double precision NOT NULL,
  at_ms     double precision NOT NULL,
  PRIMARY KEY (tenant_id, client_id, class)
);
