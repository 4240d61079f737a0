-- Filters of orders by wallet and by reference, which is optional, and of events by kinds other than the frequent ones.
CREATE INDEX orders_by_wallet ON orders (tenant_id, wallet_id, id);
CREATE INDEX orders_by_reference ON orders (tenant_id, reference, id) WHERE reference IS NOT NULL;
CREATE INDEX events_of_rare_kinds ON events (tenant_id, event, sequence)
  WHERE event NOT IN ('transaction.updated', 'order.updated');
