-- The numbers of audit entries start with 1. Rows from before are not checked, because nobody may remove them from the log;
-- `bursar audit verify` reports them.
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_number_check CHECK (number >= 1) NOT VALID;
