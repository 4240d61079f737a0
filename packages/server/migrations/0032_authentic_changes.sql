-- A change request takes effect without a caller, and the service authenticates what it changes. Its row, with the decisions on it, carries a
-- MAC, so that a writer to the database cannot insert an approved change. Those that were open before have none, and must be requested again.
ALTER TABLE change_requests ADD COLUMN key_id text, ADD COLUMN mac bytea;
UPDATE change_requests SET state = 'failed', failure_code = 'CHANGE_REQUEST_TAMPERED' WHERE state IN ('pending', 'scheduled');

-- The same for a tenant that the operator has opted out. One that was opted out before must be opted out again.
ALTER TABLE tenants ADD COLUMN settings_key_id text, ADD COLUMN settings_mac bytea;
