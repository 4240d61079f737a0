import { randomUUID } from "node:crypto";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { sealEndpoints } from "../../harness/database/seal-rows.js";
import { eventually } from "../../harness/eventually.js";
import { readMetrics } from "../../harness/metrics.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const service = await inspectTamperedService();

/** The writer can write every table, and has no master key. */
describe("a writer to the database gets nothing signed", () => {
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
  });
  afterAll(() => receiver.stop());

  let victim: Awaited<ReturnType<typeof createVictim>>;
  beforeEach(async () => {
    victim = await createVictim();
  });

  /** A tenant with an endpoint that has received one event. */
  async function createVictim() {
    const created = await service.createTenant("100");
    const hooks = webhooksOf(service, await service.token(created));
    const path = `/${randomUUID()}`;
    const endpoint = await hooks.createEndpoint(receiver.url + path);
    const transactionId = readId("tx", await hooks.transact()) ?? "";
    await receiver.arrived(path, 1);
    const tenantId = readId("tnt", created.tenantId) ?? "";
    return { hooks, path, endpoint, endpointId: readId("whe", endpoint.id) ?? "", tenantId, transactionId };
  }

  const run = (script: string) => service.database.run(script);
  /** The lease of an endpoint is taken again, as by another process, so that its row is read. */
  const expireLease = (endpointId: string) =>
    run(`UPDATE webhook_leases SET expires_at = '-infinity' WHERE endpoint_id = '${endpointId}'`);
  /** A delivery of the last event of a tenant, as the service would write it. */
  const deliverLast = (tenantId: string, endpointId: string) =>
    run(`
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
      SELECT tenant_id, uuidv7(), '${endpointId}', sequence, event, now() FROM events
      WHERE tenant_id = '${tenantId}' ORDER BY sequence DESC LIMIT 1`);
  /** What has arrived at a path by the time at which the audit log says that something was tampered with. */
  const arrivedBeforeReport = async (path: string, action: string) => {
    const isReported = async () => {
      const rows = await service.database.query(
        sql`SELECT FROM audit_entries WHERE tenant_id = ${victim.tenantId} AND action = ${action}`,
      );
      return rows.length > 0;
    };
    const at = () => receiver.received.filter((one) => one.path === path);
    await eventually(async () => at().length > 0 || (await isReported()), Boolean);
    return at().map(({ body }) => body);
  };
  const reported = async (name: string) => {
    return (await readMetrics(service)).value(name) ?? 0;
  };

  it.each([
    ["was sent elsewhere", ""],
    ["was also given to the operator, who may read everything", ", client_id = NULL, scopes = NULL"],
    ["also has other events", ", events = '{transaction.updated}'"],
  ])("at an endpoint that %s", async (_, more) => {
    const path = `/evil-${randomUUID()}`;
    const { endpointId, endpoint, hooks } = victim;
    await run(
      `UPDATE webhook_endpoints SET url = '${receiver.url}${path}'${more} WHERE id = '${endpointId}'`,
    );
    await hooks.transact();
    await expireLease(endpointId);
    expect(await arrivedBeforeReport(path, "webhook_endpoint.tampered")).toEqual([]);
    expect(await hooks.readEndpoint(endpoint.id)).toMatchObject({
      state: "disabled",
      disabled_reason: "tampered",
    });
    expect(await reported("bursar_tampered_endpoints_total")).toBeGreaterThan(0);
  });

  it("at an endpoint that nobody has verified", async () => {
    const path = `/evil-${randomUUID()}`;
    const { hooks } = victim;
    const pending = readId("whe", (await hooks.registerEndpoint(receiver.url + path)).id) ?? "";
    await run(`UPDATE webhook_endpoints SET state = 'enabled', verified_at = now() WHERE id = '${pending}'`);
    await hooks.transact();
    expect(await arrivedBeforeReport(path, "webhook_endpoint.tampered")).toEqual([]);
  });

  it("with the secret of another tenant's endpoint, also if its row is authentic", async () => {
    const { tenantId, endpointId } = victim;
    const path = `/evil-${randomUUID()}`;
    victim = await createVictim();
    const own = victim.tenantId;
    const moved = `jsonb_build_object('tenant_id', '${own}', 'url', '${receiver.url}${path}')`;
    await run(`
      INSERT INTO webhook_endpoints SELECT (jsonb_populate_record(e, ${moved})).*
      FROM webhook_endpoints e WHERE tenant_id = '${tenantId}' AND id = '${endpointId}';
      INSERT INTO webhook_leases (tenant_id, endpoint_id, fence, expires_at) VALUES ('${own}', '${endpointId}', 0, '-infinity')`);
    await deliverLast(own, endpointId);
    expect(await arrivedBeforeReport(path, "webhook_endpoint.tampered")).toEqual([]);
    await sealEndpoints(service.database, service.keys);
    await expireLease(endpointId);
    const errors = await eventually(
      () =>
        service.database.query<{ lastError: string | null }>(
          sql`SELECT last_error AS "lastError" FROM pending_deliveries WHERE tenant_id = ${own} AND last_error IS NOT NULL`,
        ),
      (rows) => rows.length > 0,
    );
    expect(errors[0]?.lastError).toContain("does not decrypt the secret");
    await run(`DELETE FROM webhook_endpoints WHERE tenant_id = '${own}' AND id = '${endpointId}'`);
  });

  /** Another event about a transaction, as if something had happened to it. */
  const appendEvent = async (tenantId: string, transactionId: string, subjectId: string) => {
    const next = `jsonb_build_object('subject_id', '${subjectId}', 'version', 9, 'sequence', s.sequence)`;
    await run(`
      UPDATE event_sequences SET sequence = sequence + 1 WHERE tenant_id = '${tenantId}';
      INSERT INTO events SELECT (jsonb_populate_record(e, ${next})).*
      FROM events e JOIN event_sequences s USING (tenant_id) WHERE e.subject_id = '${transactionId}' LIMIT 1`);
  };

  it.each([
    ["has another amount", "amount = amount * 100"],
    ["is of another client", "client_id = gen_random_uuid()"],
    ["has no MAC", "mac = NULL"],
  ])("about a transaction that %s", async (_, change) => {
    const { tenantId, transactionId, endpointId, path, hooks } = victim;
    await run(`UPDATE transactions SET ${change} WHERE id = '${transactionId}'`);
    await appendEvent(tenantId, transactionId, transactionId);
    receiver.received.length = 0;
    await deliverLast(tenantId, endpointId);
    expect(await arrivedBeforeReport(path, "transaction.tampered")).toEqual([]);
    const { body } = await hooks.send("GET", "/v1/system/failures");
    expect(body.data).toMatchObject([{ kind: "delivery" }]);
  });

  it("about a transaction that nobody has requested", async () => {
    const { tenantId, transactionId, endpointId, path } = victim;
    const forged = randomUUID();
    const other = JSON.stringify({ id: forged, idempotency_key: forged, reference: "FORGED" });
    await run(`
      INSERT INTO transactions SELECT (jsonb_populate_record(t, '${other}')).*
      FROM transactions t WHERE id = '${transactionId}'`);
    await appendEvent(tenantId, transactionId, forged);
    receiver.received.length = 0;
    await deliverLast(tenantId, endpointId);
    expect(await arrivedBeforeReport(path, "transaction.tampered")).toEqual([]);
  });

  it("with an endpoint that was changed again afterwards, which can only be deleted", async () => {
    const { endpoint, endpointId, hooks } = victim;
    await run(`UPDATE webhook_endpoints SET url = '${receiver.url}/evil' WHERE id = '${endpointId}'`);
    const url = `/v1/webhook-endpoints/${endpoint.id}`;
    const changes = [
      await hooks.send("PATCH", url, { description: "mine" }),
      await hooks.send("POST", `${url}/disable`),
      await hooks.send("POST", `${url}/rotate-secret`, {}),
      await hooks.send("POST", `${url}/test`),
      await hooks.send("POST", `${url}/verify`),
    ];
    expect(changes.map(({ status, body }) => [status, body.error.code])).toEqual(
      changes.map(() => [409, "WEBHOOK_ENDPOINT_TAMPERED"]),
    );
    expect(await hooks.send("DELETE", url)).toMatchObject({ status: 200 });
  });
});
