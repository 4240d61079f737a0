-- Who has stopped a client: what the operator has stopped, one client alone does not end. A writer to the database that says so falsely only
-- makes the stop stricter. Until now it was inferred from who had changed the client last.
ALTER TABLE stop_records ADD COLUMN by_operator boolean NOT NULL DEFAULT false;

UPDATE stop_records s SET by_operator = true FROM clients c
WHERE c.authority_changed_by IS NULL AND s.tenant_id = c.tenant_id AND s.subject_id = c.id AND s.stopped;
