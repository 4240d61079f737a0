-- An approval counts only for the payment whose digest it names: a payment that is changed afterwards in the database is not approved. One
-- from before has to be given again.
ALTER TABLE approvals ADD COLUMN digest bytea;

-- A rejection is final also if its row is deleted before the engine has seen it: the audit log says that there was one.
CREATE INDEX audit_entries_rejections ON audit_entries (tenant_id, object)
  WHERE action = 'transaction.reject' AND outcome = 'succeeded';
