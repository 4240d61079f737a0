import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { readQueues } from "../../../src/store/metrics/read-queues.js";
import { createTestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";
import { readMetrics } from "../../harness/metrics.js";
import { sharedService } from "../../harness/service/shared-service.js";
import { startWebhookReceiver, status } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const service = await sharedService();
/** It comes with Prometheus. */
const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined;

/** A UUID of version 7 of this time. */
function idOf(time: Date, number: number): string {
  const hex = time.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${number.toString(16).padStart(12, "0")}`;
}

describe("the metrics of the business", () => {
  it("count each state that a transaction enters, by kind, and the deliveries of its events", async () => {
    const receiver = await startWebhookReceiver();
    const hooks = webhooksOf(service, await service.token(await service.createTenant("10")));
    await hooks.createEndpoint(`${receiver.url}/counted`);
    const before = await readMetrics(service);
    await hooks.api.settled(await hooks.transact("4"));
    await hooks.api.settled(await hooks.transact("1000"));
    await receiver.arrived("/counted", 2);
    const growth = async (name: string, labels: Record<string, string>) =>
      ((await readMetrics(service)).value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);

    for (const [state, count] of [
      ["accepted", 2],
      ["completed", 1],
      ["failed", 1],
    ] as const) {
      expect(await growth("bursar_transactions_total", { kind: "transfer", state })).toBeGreaterThanOrEqual(
        count,
      );
    }
    expect(
      await growth("bursar_transaction_duration_seconds_count", { kind: "transfer", state: "completed" }),
    ).toBeGreaterThanOrEqual(1);
    await eventually(
      () => growth("bursar_webhook_deliveries_total", { state: "delivered" }),
      (count) => count >= 2,
    );
    expect(
      await growth("bursar_webhook_attempt_duration_seconds_count", { outcome: "delivered" }),
    ).toBeGreaterThanOrEqual(2);
    receiver.answerWith(status(500));
    await hooks.transact("1");
    await eventually(
      () => growth("bursar_webhook_attempt_duration_seconds_count", { outcome: "failed" }),
      (count) => count >= 1,
    );
    await receiver.stop();
  });

  it("have a bucket for everything above the highest bound, which is the count", async () => {
    const { samples } = await readMetrics(service);
    const counts = samples.filter(({ name }) => name === "bursar_transaction_duration_seconds_count");
    expect(counts.length).toBeGreaterThan(0);
    for (const { labels, value } of counts) {
      const last = samples.find(
        (one) =>
          one.name === "bursar_transaction_duration_seconds_bucket" &&
          one.labels["le"] === "+Inf" &&
          one.labels["kind"] === labels["kind"] &&
          one.labels["state"] === labels["state"],
      );
      expect(last?.value).toBe(value);
    }
  });

  it.runIf(hasPromtool)("have names and types that promtool accepts, with those of Node", async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
      input: text,
      encoding: "utf8",
    });
    expect([status, stdout, stderr]).toEqual([0, "", ""]);
    expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
  });

  it("have no label with a tenant, a client or an id", async () => {
    const { samples } = await readMetrics(service);
    const own = samples.filter(({ name }) => name.startsWith("bursar_"));
    const names = new Set(own.flatMap(({ labels }) => Object.keys(labels)));
    const allowed = [
      "code",
      "endpoints",
      "kind",
      "le",
      "market",
      "method",
      "outcome",
      "queue",
      "route",
      "state",
      "status",
      "version",
    ];
    expect([...names].filter((name) => !allowed.includes(name))).toEqual([]);
    for (const { labels } of own)
      for (const value of Object.values(labels))
        expect(value).not.toMatch(/(tnt|cli|tx|wlt|dlv)_[0-9a-z]{26}/);
  });
});

describe("what the metrics read from the database", () => {
  it("is empty for an empty database", async () => {
    const database = await createTestDatabase();
    const none = { count: 0, oldest: undefined };
    expect(await readQueues(database, ["ETH-USD"], new Date())).toEqual({
      transactions: { accepted: none, awaiting_approval: none, on_rail: none, failed: none },
      failedOrders: 0,
      deliveries: { healthy: none, failing: none },
      deferredEvents: 0,
      endpoints: { failing: 0, disabledFailing: 0, disabledGone: 0 },
      markets: [],
      ledgerAudit: undefined,
    });
    await database.drop();
  });

  it("is the count and the oldest of each queue, of all tenants", async () => {
    const database = await createTestDatabase();
    const now = new Date("2026-11-16T12:00:00Z");
    const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
    const tenants = ["10000000-0000-7000-8000-000000000000", "20000000-0000-7000-8000-000000000000"];
    const [first, second] = tenants as [string, string];
    const open = (tenant: string, secondsAgo: number, number: number, more: string) =>
      `('${tenant}', '${idOf(ago(secondsAgo), number)}', ${more})`;
    await database.run(`
      INSERT INTO open_transactions (tenant_id, id, state, version, last_error, retry_at) VALUES
        ${open(first, 5, 1, "'accepted', 1, NULL, NULL")},
        ${open(second, 90, 2, "'accepted', 1, NULL, NULL")},
        ${open(second, 80, 3, "'accepted', 1, NULL, NULL")},
        ${open(second, 700, 4, "'accepted', 1, 'it failed', '2030-01-01'")},
        ${open(second, 800, 5, "'accepted', 1, NULL, 'infinity'")},
        ${open(first, 60, 6, "'broadcast', 3, NULL, NULL")},
        ${open(first, 9000, 7, "'awaiting_approval', 2, NULL, NULL")}`);
    const endpoint = (number: number, columns: string) =>
      `('${first}', '${idOf(ago(1), number)}', 'https://a.example', '{*}', '', 1, now(), now(), ${columns})`;
    await database.run(`
      INSERT INTO webhook_endpoints
        (tenant_id, id, url, events, secret, version, created_at, updated_at, state, failing_since, disabled_reason)
      VALUES ${endpoint(1, "'enabled', NULL, NULL")}, ${endpoint(2, "'enabled', now(), NULL")},
        ${endpoint(3, "'disabled', now(), 'failing'")}, ${endpoint(4, "'disabled', NULL, 'gone'")},
        ${endpoint(5, "'disabled', NULL, 'requested'")}, ${endpoint(6, "'enabled', NULL, NULL")}`);
    // What waits for a disabled client is not the fault of the senders.
    await database.run(`
      INSERT INTO tenants (id, name, created_at) VALUES ('${first}', 'first', now());
      INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, created_at, updated_at, authority_changed_at)
        VALUES ('${second}', '${first}', 'disabled', '{}', 'disabled', false, now(), now(), now());
      UPDATE webhook_endpoints SET client_id = '${second}' WHERE id = '${idOf(ago(1), 6)}'`);
    const delivery = (toEndpoint: number, secondsAgo: number, number: number, dueAt: string) =>
      `('${first}', '${idOf(ago(secondsAgo), number)}', '${idOf(ago(1), toEndpoint)}', ${number}, 'wallet.updated', ${dueAt})`;
    await database.run(`
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at) VALUES
        ${delivery(1, 30, 1, "'-infinity'")}, ${delivery(1, 3000, 2, `'${ago(10).toISOString()}'`)},
        ${delivery(1, 3000, 3, "'2030-01-01'")}, ${delivery(2, 4000, 4, `'${ago(500).toISOString()}'`)},
        ${delivery(3, 5000, 5, "'-infinity'")}, ${delivery(6, 9000, 6, "'-infinity'")}`);
    await database.run(`
      INSERT INTO event_sequences VALUES ('${first}', 50);
      INSERT INTO delivery_backlogs VALUES ('${first}', 8);
      INSERT INTO ledger_audits (finished_at, violated) VALUES ('${ago(3600).toISOString()}', 2)`);

    expect(await readQueues(database, [], now)).toEqual({
      transactions: {
        accepted: { count: 3, oldest: ago(90) },
        awaiting_approval: { count: 1, oldest: undefined },
        on_rail: { count: 1, oldest: ago(60) },
        failed: { count: 1, oldest: ago(700) },
      },
      failedOrders: 0,
      deliveries: {
        healthy: { count: 2, oldest: ago(30) },
        failing: { count: 1, oldest: ago(500) },
      },
      deferredEvents: 42,
      endpoints: { failing: 1, disabledFailing: 1, disabledGone: 1 },
      markets: [],
      ledgerAudit: { finishedAt: ago(3600), violated: 2 },
    });
    await database.drop();
  });

  it("is one row for each market, which a process runs", async () => {
    const { value } = await eventually(
      () => readMetrics(service),
      (read) => read.value("bursar_market_running", { market: "ETH-USD" }) === 1,
    );
    expect(value("bursar_market_unexecuted_commands", { market: "ETH-USD" })).toBeGreaterThanOrEqual(0);
    expect(value("bursar_market_view_behind_changes", { market: "ETH-USD" })).toBeGreaterThanOrEqual(0);
    expect(value("bursar_database_connections", { state: "in_use" })).toBeGreaterThanOrEqual(0);
    expect(value("bursar_database_connections_max")).toBe(10);
    expect(value("bursar_database_connection_waiters")).toBe(0);
  });
});
