-- A head below zero would make the next entry of the log look too far ahead.
ALTER TABLE audit_heads ADD CONSTRAINT audit_heads_number_check CHECK (number >= 0) NOT VALID;
ALTER TABLE audit_heads VALIDATE CONSTRAINT audit_heads_number_check;
