-- A transaction that has ended without being completed has a record that stops it, so that it cannot be made open again. One that was found to
-- require approvals has a record too: it is not judged again.
INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
SELECT e.tenant_id, e.subject_id, 1, true, e.occurred_at FROM events e JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.subject_id
WHERE e.event = 'transaction.updated' AND e.state IN ('cancelled', 'rejected', 'failed') AND t.kind <> 'deposit'
UNION ALL
SELECT o.tenant_id, o.id, 1, false, now() FROM open_transactions o WHERE o.state = 'awaiting_approval'
ON CONFLICT DO NOTHING;

-- Serves the reseal: the ends of freezes and other stops, which are few.
CREATE INDEX stop_records_released ON stop_records (tenant_id, subject_id) WHERE NOT stopped AND mac IS NOT NULL;
