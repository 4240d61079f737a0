import { readId } from "@bursar/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService } from "../../harness/service/test-service.js";
import { startWebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";

/** Few connections, so that a tenant needs few requests to occupy them. One is the test's own. */
const service = await startTestService({ BURSAR_DATABASE_CONNECTIONS: "5" });
afterAll(() => service.stop());

const createWallet = (token: string) =>
  service.call("POST", "/v1/wallets", token, { name: "new", purpose: "payout" });

describe("requests of a tenant that wait for each other in the database", () => {
  it("leave connections to other tenants, to payments and to readiness, and are all served in the end", async () => {
    const [busy, other] = [await service.createTenant(), await service.createTenant("1000")];
    const [busyToken, otherToken] = [await service.token(busy), await service.token(other)];
    const waiting = await service.database.transaction(async (tx) => {
      // Every act of the tenant is appended to its audit log, and waits for this lock.
      await tx.query(
        sql`SELECT FROM audit_heads WHERE tenant_id = ${readId("tnt", busy.tenantId)} FOR UPDATE`,
      );
      const burst = Array.from({ length: 40 }, () => createWallet(busyToken));
      await eventually(
        () => tx.query(sql`SELECT FROM pg_locks WHERE NOT granted`),
        (locks) => locks.length > 0,
      );
      expect((await createWallet(otherToken)).status).toBe(202);
      expect((await service.call("GET", "/v1/wallets", otherToken)).status).toBe(200);
      const body = { reference: "r", asset: "USD", amount: "1" };
      const headers = { "idempotency-key": "beside" };
      const paid = await service.call("POST", "/v1/transactions", otherToken, body, headers);
      expect(paid.status).toBe(202);
      const { id } = (await paid.json()) as { id: string };
      await eventually(
        async () => (await service.call("GET", `/v1/transactions/${id}`, otherToken)).json(),
        (transaction) => (transaction as { state: string }).state === "completed",
      );
      expect((await service.call("GET", "/readyz", undefined)).status).toBe(200);
      return { burst };
    });
    const statuses = (await Promise.all(waiting.burst)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([202]));
  });
});

describe("requests that wait for a receiver that does not answer", () => {
  it("keep neither colleagues nor other tenants waiting", async () => {
    const receiver = await startWebhookReceiver(() => undefined);
    const tenants = [await service.createTenant(), await service.createTenant()];
    const ask = async (tenant: (typeof tenants)[number]) => {
      const token = await service.token(tenant);
      const body = { url: receiver.url, events: ["transaction.updated"] };
      const made = await service.call("POST", "/v1/webhook-endpoints", token, body);
      const { id } = (await made.json()) as { id: string };
      await service.call("POST", `/v1/webhook-endpoints/${id}/verify`, token);
      const tests = Array.from({ length: 4 }, () =>
        service.call("POST", `/v1/webhook-endpoints/${id}/test`, token),
      );
      return { token, tests };
    };
    const asked = await Promise.all(tenants.map(ask));
    await eventually(
      () => receiver.received.length,
      (count) => count >= 8,
    );
    let isOver = false;
    const over = Promise.all(asked.flatMap(({ tests }) => tests)).then((answers) => {
      isOver = true;
      return answers;
    });
    for (const { token } of asked) expect((await service.call("GET", "/v1/wallets", token)).status).toBe(200);
    const neighbour = await service.token(await service.createTenant());
    expect((await createWallet(neighbour)).status).toBe(202);
    expect(isOver).toBe(false);
    await receiver.stop();
    expect(new Set((await over).map(({ status }) => status))).toEqual(new Set([200]));
  });
});
