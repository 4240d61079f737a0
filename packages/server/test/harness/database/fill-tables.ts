import type { TestDatabase } from "./test-database.js";

/**
 * Gives every tenant a past: as much as makes a bad plan visible, in the proportions of a service that is at work. The books
 * stay in order.
 */
export async function fillTables(database: TestDatabase): Promise<void> {
  for (const part of [tenantsAndWallets, transactions, access, webhooks, orders, "ANALYZE"])
    await runLong(database, part);
}

/** On a busy machine it takes longer than a statement of the service may. */
export function runLong(database: TestDatabase, script: string): Promise<void> {
  return database.session(async (session) => {
    await session.script("SET statement_timeout = 0");
    await session.script(script, longMs);
    await session.script("RESET statement_timeout");
  });
}

const longMs = 180_000;

/** A tenant's wallets are taken to be few: their list passes over those that do not match its filter. */
const tenantsAndWallets = `
  INSERT INTO tenants SELECT uuidv7(), 'filler', now() FROM generate_series(1, 3);
  INSERT INTO wallets (tenant_id, id, name, purpose, network, role, state, version, created_at, updated_at)
    SELECT t.id, uuidv7(), 'w', 'treasury', 'book', role, 'active', 1, now(), now()
    FROM tenants t, (VALUES ('primary'), ('settlement')) roles (role)
    ON CONFLICT DO NOTHING;
  INSERT INTO wallets (tenant_id, id, name, purpose, network, state, frozen, version, created_at, updated_at)
    SELECT t.id, uuidv7(), 'w', CASE n % 3 WHEN 0 THEN 'deposit' ELSE 'payout' END, 'book', 'active', n % 5 = 0, 1, now(), now()
    FROM tenants t, generate_series(1, 150) n;
  INSERT INTO ledger_accounts (tenant_id, account_id, asset, kind, available, held)
    SELECT tenant_id, id, asset, 'wallet', 0, 0 FROM wallets, (VALUES ('USD'), ('ETH')) assets (asset)
    ON CONFLICT DO NOTHING;
`;

/** Ten thousand a tenant, the last of them a second ago; one in ten of another asset, one in twenty failed. */
const transactions = `
  CREATE TEMP TABLE made AS
    SELECT p.tenant_id, uuidv7((n - 10000) * interval '1 second') AS id, n, p.id AS source, s.id AS destination,
      CASE n % 10 WHEN 0 THEN 'ETH' ELSE 'USD' END AS asset,
      CASE n / 10 % 20 WHEN 1 THEN 'failed' ELSE 'completed' END AS state
    FROM wallets p JOIN wallets s ON s.tenant_id = p.tenant_id AND s.role = 'settlement', generate_series(1, 9999) n
    WHERE p.role = 'primary';
  INSERT INTO transactions
    (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, source_account_id, destination_account_id, created_at)
    SELECT tenant_id, id, md5(id::text), '\\x00', tenant_id, 'filler-' || n % 1000, asset, 1, source, destination, now() FROM made;
  INSERT INTO ledger_entries
    SELECT tenant_id, id, 1, source, destination, asset, 1 FROM made WHERE state = 'completed';
  INSERT INTO event_sequences SELECT id, 0 FROM tenants ON CONFLICT DO NOTHING;
  INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, failure_code, occurred_at)
    SELECT tenant_id, s.sequence + n, 'transaction.updated', m.id, 2, m.state, 'accepted',
      CASE m.state WHEN 'failed' THEN 'INSUFFICIENT_FUNDS' END, now()
    FROM made m JOIN event_sequences s USING (tenant_id);
  UPDATE event_sequences SET sequence = sequence + 9999;
  DROP TABLE made;
`;

/**
 * Five thousand final orders a tenant, three in four on one market, and a hundred that rest. The books in memory do not know those,
 * so they are of a wallet that nothing is done with.
 */
const orders = `
  CREATE TEMP TABLE made AS
    SELECT w.tenant_id, uuidv7((n - 10000) * interval '1 second') AS id, n, w.id AS wallet_id,
      CASE n % 4 WHEN 0 THEN 'USDC-USD' ELSE 'ETH-USD' END AS market, CASE n / 4 % 2 WHEN 0 THEN 'buy' ELSE 'sell' END AS side,
      CASE n / 8 % 3 WHEN 0 THEN 'filled' WHEN 1 THEN 'cancelled' ELSE 'rejected' END AS state
    FROM wallets w, generate_series(1, 5100) n WHERE w.role = 'settlement';
  INSERT INTO orders
    (tenant_id, id, idempotency_key, request_hash, client_id, market, wallet_id, side, type, time_in_force, self_trade, price,
     size, policy_version, created_at)
    SELECT tenant_id, id, md5(id::text), '\\x00', tenant_id, market, wallet_id, side, 'limit', 'gtc', 'cancel_newest',
      CASE side WHEN 'buy' THEN 1 ELSE 1000000 END, 1, 0, now() FROM made;
  INSERT INTO event_sequences SELECT id, 0 FROM tenants ON CONFLICT DO NOTHING;
  INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, occurred_at, details)
    SELECT tenant_id, s.sequence + n, 'order.updated', m.id, 2, CASE WHEN n > 5000 THEN 'open' ELSE m.state END, 'pending', now(),
      '{"size":1,"filled":0,"quote_filled":"0","fee":"0"}'
    FROM made m JOIN event_sequences s USING (tenant_id);
  UPDATE event_sequences SET sequence = sequence + 5100;
  INSERT INTO open_orders (tenant_id, id, market, wallet_id, side, price, state, version, sequence, size)
    SELECT tenant_id, id, market, wallet_id, side, CASE side WHEN 'buy' THEN 1 ELSE 1000000 END, 'open', 2, -n, 1
    FROM made WHERE n > 5000;
  INSERT INTO trades
    SELECT 'ETH-USD', n, id, 1, 1, side, tenant_id, id, 0, tenant_id, id, 0, now() FROM made
    WHERE tenant_id = (SELECT min(tenant_id::text)::uuid FROM made);
  UPDATE markets SET trade_sequence = 5100 WHERE market = 'ETH-USD';
  DROP TABLE made;
`;

const access = `
  INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, authority_changed_at, created_at, updated_at)
    SELECT uuidv7(), t.id, 'filler', '{}', 'active', false, now(), now(), now() FROM tenants t, generate_series(1, 300);
  INSERT INTO client_secrets SELECT uuidv7(), id, sha256(id::text::bytea), now() FROM clients WHERE name = 'filler';
  INSERT INTO client_keys
    SELECT uuidv7(), id, 'ed25519', sha256(id::text::bytea), now() FROM clients WHERE name = 'filler';
  INSERT INTO revoked_tokens
    SELECT tenant_id, id, uuidv7(), now() + interval '1 hour' FROM clients, generate_series(1, 5);
  INSERT INTO used_nonces
    SELECT tenant_id, id, n::text, now() + interval '1 hour' FROM clients, generate_series(1, 5) n;
  INSERT INTO quota_buckets
    SELECT tenant_id, id, class, 1, 0 FROM clients, (VALUES ('create'), ('read'), ('manage')) classes (class)
    ON CONFLICT DO NOTHING;
  INSERT INTO client_hours
    SELECT tenant_id, id, date_trunc('hour', now()) - n * interval '1 hour', 9, 1, 0, 0, 9 FROM clients, generate_series(0, 9) n
    ON CONFLICT DO NOTHING;
  INSERT INTO audit_heads SELECT id, 0, '\\x00' FROM tenants ON CONFLICT DO NOTHING;
  INSERT INTO audit_entries (tenant_id, number, occurred_at, actor, action, outcome, repeated, hash)
    SELECT tenant_id, number + n, now(), 'operator', 'filler', 'succeeded', 1, '\\x00' FROM audit_heads, generate_series(1, 3000) n;
  UPDATE audit_heads SET number = number + 3000;
`;

/** Every event has gone to two endpoints, one in fifty in vain; a third is disabled, and what was on its way there waits. */
const webhooks = `
  INSERT INTO webhook_endpoints (tenant_id, id, url, events, state, secret, version, created_at, updated_at)
    SELECT id, uuidv7(), 'https://filler.example', '{*}', 'disabled', '', 1, now(), now()
    FROM tenants, generate_series(1, 3);
  INSERT INTO webhook_leases SELECT tenant_id, id, NULL, 0, '-infinity' FROM webhook_endpoints ON CONFLICT DO NOTHING;
  CREATE TEMP TABLE filled AS
    SELECT tenant_id, id, row_number() OVER (PARTITION BY tenant_id ORDER BY id) AS n FROM webhook_endpoints;
  INSERT INTO finished_deliveries (tenant_id, id, endpoint_id, sequence, event, state, finished_at, attempts)
    SELECT tenant_id, uuidv7((v.sequence - 10000) * interval '1 second'), e.id, v.sequence, v.event,
      CASE v.sequence % 50 WHEN 1 THEN 'exhausted' ELSE 'delivered' END, now(), '[]'
    FROM filled e JOIN events v USING (tenant_id) WHERE e.n <= 2;
  INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
    SELECT tenant_id, uuidv7((v.sequence - 10000) * interval '1 second'), e.id, v.sequence, v.event,
      CASE v.sequence % 2 WHEN 1 THEN '-infinity' ELSE now() END
    FROM filled e JOIN events v USING (tenant_id) WHERE e.n = 3 AND v.sequence <= 2000;
  INSERT INTO webhook_hours
    SELECT tenant_id, id, date_trunc('hour', now()) - hour * interval '1 hour', 10, 9, 0, 500, 90 FROM filled, generate_series(0, 1000) hour
    ON CONFLICT DO NOTHING;
  DROP TABLE filled;
`;
