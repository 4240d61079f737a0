-- Who did it: on every event, on requests to cancel or amend, and on webhook endpoints. NULL in actor_id is the service itself, and the
-- nil UUID the operator.
ALTER TABLE events ADD COLUMN actor_id uuid;
ALTER TABLE open_transactions ADD COLUMN cancel_requested_by uuid;
ALTER TABLE open_orders ADD COLUMN change_requested_by uuid;
ALTER TABLE market_commands ADD COLUMN actor_id uuid;
ALTER TABLE webhook_endpoints ADD COLUMN created_by uuid;

-- An audit entry can stand for many objects of one client. NULL in older entries and in those about one object, so that their hashes
-- stay what they are.
ALTER TABLE audit_entries ADD COLUMN objects text[];
ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_actor_check;
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_actor_check
  CHECK (actor IN ('client', 'operator', 'anonymous', 'service')) NOT VALID;

-- What one client has requested.
CREATE INDEX transactions_by_client ON transactions (tenant_id, client_id, id DESC);
CREATE INDEX orders_by_client ON orders (tenant_id, client_id, id DESC);

-- Few clients are disabled and few tenants suspended: for the others, the engine finds nothing in a small index.
ALTER TABLE tenants ADD COLUMN suspended_at timestamptz;
CREATE INDEX tenants_suspended ON tenants (id) WHERE suspended_at IS NOT NULL;
CREATE INDEX clients_disabled ON clients (id) WHERE state = 'disabled';

-- What is left to do after a client was disabled or enabled, or a tenant suspended or resumed, in batches, also after a crash. The nil
-- UUID as the client stands for all clients of the tenant.
CREATE TABLE client_sweeps (
  tenant_id uuid NOT NULL,
  client_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('cancel_orders', 'cancel_transactions', 'release_transactions')),
  requested_by uuid NOT NULL,
  requested_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, client_id, kind)
);
