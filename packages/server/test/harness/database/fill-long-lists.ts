import { openDatabase } from "../../../src/store/core/database.js";
import type { TestDatabase } from "./test-database.js";

/** For each list, a filter that only its oldest row matches. An empty id stands for one of the test's. */
export const longLists = {
  transactions: { states: ["rejected"], clientId: "" },
  orders: { state: "filled", market: "USDC-USD" },
  deliveries: { endpointId: "", event: "wallet.updated" },
  wallets: { purpose: "fees" },
  destinations: {},
  changeRequests: { state: "pending" },
} as const;

interface Ids {
  walletId: string;
  clientId: string;
  endpointId: string;
}

/** One tenant whose rows are nearly all alike, so that a filter for the others passes over all of them. */
export async function fillLongLists(
  { url }: TestDatabase,
  rows: number,
  { tenantId, walletId, clientId, endpointId }: Ids & { tenantId: string },
  rare: Ids,
): Promise<void> {
  const made = `CREATE TEMP TABLE made AS
    SELECT uuidv7((n - ${rows}) * interval '1 second') AS id, n FROM generate_series(1, ${rows}) n`;
  const database = openDatabase({ url, connectionsMax: 1, statementTimeoutMs: 1_200_000 });
  const run = (script: string) => database.session((session) => session.script(script));
  await run(`${made};
    INSERT INTO transactions (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount,
        source_account_id, destination_account_id, created_at)
      SELECT '${tenantId}', id, n, '\\x00', CASE n WHEN 1 THEN '${rare.clientId}' ELSE '${clientId}' END::uuid, 'same', 'USD', 1,
        '${walletId}', '${walletId}', now() FROM made;
    INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, failure_code, occurred_at)
      SELECT '${tenantId}', n, 'transaction.updated', id, 2, CASE n % 4 WHEN 0 THEN 'completed' ELSE 'rejected' END, 'accepted',
        CASE n % 4 WHEN 0 THEN NULL ELSE 'POLICY_REJECTED' END, now() FROM made WHERE n < ${(rows * 2) / 3};
    INSERT INTO open_transactions (tenant_id, id, state, version)
      SELECT '${tenantId}', id, 'accepted', 1 FROM made WHERE n >= ${(rows * 2) / 3};
    INSERT INTO finished_deliveries (tenant_id, id, endpoint_id, sequence, event, state, finished_at, attempts)
      SELECT '${tenantId}', uuidv7((n - ${rows}) * interval '1 second'), '${endpointId}', n,
        CASE n WHEN 1 THEN 'wallet.updated' ELSE 'transaction.updated' END,
        CASE n % 3 WHEN 0 THEN 'exhausted' ELSE 'delivered' END, now(), '[]' FROM made;
    INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
      SELECT '${tenantId}', uuidv7((n - ${rows}) * interval '1 second'), '${endpointId}', n, 'transaction.updated', now() FROM made;
    DROP TABLE made`);
  await run(`${made};
    INSERT INTO orders (tenant_id, id, idempotency_key, request_hash, client_id, market, wallet_id, side, type, time_in_force,
        self_trade, price, size, policy_version, created_at)
      SELECT '${tenantId}', id, n, '\\x00', '${clientId}', CASE n WHEN 1 THEN 'USDC-USD' ELSE 'ETH-USD' END, '${walletId}', 'buy',
        'limit', 'gtc', 'cancel_newest', 1, 1, 0, now() FROM made;
    INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, occurred_at, details)
      SELECT '${tenantId}', ${rows} + n, 'order.updated', id, 2,
        CASE WHEN n >= ${(rows * 2) / 3} THEN 'open' WHEN n % 4 = 0 THEN 'rejected' ELSE 'filled' END, 'pending', now(),
        '{"size":1,"filled":0,"quote_filled":"0","fee":"0"}' FROM made;
    INSERT INTO open_orders (tenant_id, id, market, wallet_id, side, price, state, version, sequence, size)
      SELECT '${tenantId}', id, 'ETH-USD', '${walletId}', 'buy', 1, 'open', 2, -n, 1 FROM made WHERE n >= ${(rows * 2) / 3};
    INSERT INTO wallets (tenant_id, id, name, purpose, network, state, version, created_at, updated_at)
      SELECT '${tenantId}', id, 'w', CASE n WHEN 1 THEN 'fees' ELSE 'payout' END, 'book', 'active', 1, now(), now() FROM made;
    INSERT INTO destinations (tenant_id, id, label, network, address, client_id, created_at, effective_at, removed_at)
      SELECT '${tenantId}', id, 'd', 'book', n, '${clientId}', now(), now(), CASE WHEN n > 1 THEN now() END FROM made;
    INSERT INTO change_requests (tenant_id, id, kind, target, change, requirement, state, version, requested_by, created_at,
        expires_at, updated_at)
      SELECT '${tenantId}', id, 'policy', 't', '{}', '{}', CASE n WHEN 1 THEN 'pending' ELSE 'applied' END, 1, '${clientId}', now(),
        now(), now() FROM made;
    ANALYZE`);
  await database.close();
}
