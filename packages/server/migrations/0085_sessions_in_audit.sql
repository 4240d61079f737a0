-- Which session of a person an entry is about. Its hash covers it; an entry without one keeps its hash.
ALTER TABLE audit_entries ADD COLUMN session_id uuid;
