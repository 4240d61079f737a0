-- A stop of a client that was recorded alone says whether its payments are to be cancelled too.
ALTER TABLE stop_records ADD COLUMN cancels boolean NOT NULL DEFAULT false;
CREATE INDEX stop_records_cancelling ON stop_records (tenant_id, subject_id, recorded_at) WHERE cancels;
