-- The database has a name for each time span in which nothing that was committed has been lost. The last row is the current one. It says
-- which cluster and timeline it belongs to: a promotion or a restore has others, and the first process that notices begins a new epoch.
CREATE TABLE database_epochs (
  number bigint PRIMARY KEY,
  id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  system_identifier text,
  timeline text,
  reason text NOT NULL CHECK (reason IN ('first', 'promoted', 'restored', 'rewound', 'recovered')),
  started_at timestamptz NOT NULL DEFAULT now(),
  -- What an operator has named a recovery, so that it is not done twice.
  key text UNIQUE
);
INSERT INTO database_epochs (number, reason) VALUES (1, 'first');

-- Ranges of sequences that no event has, because a recovery has lifted the counter: after `kept` comes `lifted` + 1.
CREATE TABLE lifted_sequences (
  tenant_id uuid NOT NULL,
  kept bigint NOT NULL,
  lifted bigint NOT NULL CHECK (lifted > kept),
  epoch_id uuid NOT NULL REFERENCES database_epochs (id),
  -- Whether the tenant's audit log says so.
  audited boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, kept)
);

-- How many sequences of trades a recovery has skipped.
ALTER TABLE markets ADD COLUMN trades_skipped bigint NOT NULL DEFAULT 0;
