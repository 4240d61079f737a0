-- The list of what waits for approval states the version, which every row has, and the engine does not: its statements have indexes of their
-- own, and the planner preferred this one where statistics are missing.
DROP INDEX open_transactions_by_deadline;
CREATE INDEX open_transactions_by_deadline ON open_transactions (tenant_id, coalesce(due_at, 'infinity'), id)
  WHERE state = 'awaiting_approval' AND version > 0;
