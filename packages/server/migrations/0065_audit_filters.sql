-- Filters of the audit log. What clients create is merged into one entry for each token and half second, so entries are few and the
-- indexes cost little. All have the number last: a page continues at a number.
CREATE INDEX audit_entries_by_client ON audit_entries (tenant_id, client_id, number);
CREATE INDEX audit_entries_by_action ON audit_entries (tenant_id, action, number);
CREATE INDEX audit_entries_by_object ON audit_entries (tenant_id, object, number) WHERE object IS NOT NULL;
CREATE INDEX audit_entries_by_request ON audit_entries (tenant_id, request_id, number) WHERE request_id IS NOT NULL;
CREATE INDEX audit_entries_by_time ON audit_entries (tenant_id, occurred_at, number);
CREATE INDEX audit_entries_refused ON audit_entries (tenant_id, number) WHERE outcome = 'refused';
CREATE INDEX audit_entries_of_others ON audit_entries (tenant_id, actor, number) WHERE actor <> 'client';
