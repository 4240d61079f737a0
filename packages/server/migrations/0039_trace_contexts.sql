-- The spans of a recorded trace that later work continues: of the request that created a transaction (version 1), and of each settlement
-- (the version that it made). 16 bytes of the trace and 8 of the span. Rows exist only for requests that were recorded, and for some days.
CREATE TABLE trace_contexts (
  tenant_id uuid NOT NULL,
  transaction_id uuid NOT NULL,
  version integer NOT NULL,
  context bytea NOT NULL CHECK (octet_length(context) = 24),
  PRIMARY KEY (tenant_id, transaction_id, version)
);

-- An id contains the time at which its transaction was accepted.
CREATE INDEX trace_contexts_by_age ON trace_contexts (transaction_id);
