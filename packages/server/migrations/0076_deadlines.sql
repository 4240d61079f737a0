-- What waits for approval, by its deadline: the list that approvers work through. One that was set aside has no deadline and comes last.
CREATE INDEX open_transactions_by_deadline ON open_transactions (tenant_id, coalesce(due_at, 'infinity'), id)
  WHERE state = 'awaiting_approval';
