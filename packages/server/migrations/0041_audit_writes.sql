-- The last writes of each recorder of audit entries, so that a write can be repeated if the answer to its COMMIT was lost.
CREATE TABLE audit_writes (
  writer_id uuid NOT NULL,
  number bigint NOT NULL,
  written_at timestamptz NOT NULL,
  PRIMARY KEY (writer_id, number)
);
