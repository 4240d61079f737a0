-- A list with a filter is read as a range of (column, id), newest first, because only then no other index has the order that it asks
-- for. Both columns of such a range must go in one direction, so `id DESC` becomes `id`. The number of indexes stays.
DROP INDEX transactions_by_client, transactions_by_destination, transactions_by_reference, transactions_by_source;
CREATE INDEX transactions_by_client ON transactions (tenant_id, client_id, id);
CREATE INDEX transactions_by_destination ON transactions (tenant_id, destination_account_id, id);
CREATE INDEX transactions_by_reference ON transactions (tenant_id, reference, id);
CREATE INDEX transactions_by_source ON transactions (tenant_id, source_account_id, id);

DROP INDEX orders_by_client, orders_by_market;
CREATE INDEX orders_by_client ON orders (tenant_id, client_id, id);
CREATE INDEX orders_by_market ON orders (tenant_id, market, id);

DROP INDEX events_by_final_state, events_by_final_order_state;
CREATE INDEX events_by_final_state ON events (tenant_id, state, subject_id)
  WHERE event = 'transaction.updated' AND state IN ('completed', 'rejected', 'failed', 'cancelled');
CREATE INDEX events_by_final_order_state ON events (tenant_id, state, subject_id)
  WHERE event = 'order.updated' AND state IN ('filled', 'cancelled', 'rejected');

DROP INDEX finished_deliveries_by_endpoint, finished_deliveries_failed_by_endpoint, finished_deliveries_other_events,
  pending_deliveries_by_endpoint, pending_deliveries_other_events;
CREATE INDEX finished_deliveries_by_endpoint ON finished_deliveries (tenant_id, endpoint_id, id);
CREATE INDEX finished_deliveries_failed_by_endpoint ON finished_deliveries (tenant_id, endpoint_id, id) WHERE state = 'exhausted';
CREATE INDEX finished_deliveries_other_events ON finished_deliveries (tenant_id, event, id) WHERE event <> 'transaction.updated';
CREATE INDEX pending_deliveries_by_endpoint ON pending_deliveries (tenant_id, endpoint_id, id);
CREATE INDEX pending_deliveries_other_events ON pending_deliveries (tenant_id, event, id) WHERE event <> 'transaction.updated';
