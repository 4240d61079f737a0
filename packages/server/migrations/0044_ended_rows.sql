-- What was ended must not count again when its row is put back with the MAC that it had then. The audit log says that it was ended, and the
-- role of the service cannot remove an entry.
CREATE INDEX audit_entries_ends ON audit_entries (tenant_id, object, number)
  WHERE action IN ('change_request.create', 'change_request.cancel', 'change_request.reject', 'change_request.apply',
    'change_request.fail', 'change_request.expire', 'keys.revoke');
CREATE INDEX audit_entries_suspensions ON audit_entries (tenant_id, number)
  WHERE action IN ('tenant.suspend', 'tenant.resume');

-- The last entry about the opt-out of a tenant, covered by the MAC of the head. An opt-out from before has to be made again.
ALTER TABLE audit_heads ADD COLUMN opt_out_entry bigint;

-- What a command of the operator did is bound to its key by a MAC. A key from before cannot be used again.
ALTER TABLE operator_requests ADD COLUMN key_id text, ADD COLUMN mac bytea;
