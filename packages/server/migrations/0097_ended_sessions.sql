-- Sessions that have ended before their time have a record that the role of the service cannot remove, also those that ended before this version.
INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
SELECT tenant_id, id, 1, true, ended_at FROM sessions WHERE ended_at IS NOT NULL;
