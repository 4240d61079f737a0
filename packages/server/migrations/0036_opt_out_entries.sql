-- The number of the audit entry that a tenant's opt-out was recorded with. The MAC of the opt-out covers it, and it counts only while that
-- entry is the last one about it: the row of an opt-out that was ended cannot be put back. An opt-out from before has to be made again.
ALTER TABLE tenants ADD COLUMN settings_entry bigint;

CREATE INDEX audit_entries_opt_outs ON audit_entries (tenant_id, number)
  WHERE action IN ('tenant.single_administrator_on', 'tenant.single_administrator_off');
