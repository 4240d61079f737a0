-- Serves the removal of the writes of processes that have ended.
CREATE INDEX audit_writes_by_time ON audit_writes (written_at);
