-- Checkpoints of the audit log are events.
ALTER TABLE events DROP CONSTRAINT events_event_check;
ALTER TABLE events ADD CONSTRAINT events_event_check CHECK (event IN
  ('transaction.updated', 'wallet.updated', 'order.updated', 'endpoint.disabled', 'change_request.updated', 'audit.checkpoint')) NOT VALID;
