import { randomUUID } from "node:crypto";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AttemptResult, EndpointLease } from "../../../src/app/webhooks/sending.js";
import type { Database } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createSendingStore } from "../../../src/store/webhooks/webhook-sending.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { startClockedParts } from "../../harness/webhooks/clocked-parts.js";
import { ok, startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const service = await inspectSharedService();

const leaseMs = 60_000;

describe("the lease on an endpoint", () => {
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
  });
  afterAll(async () => {
    await receiver.stop();
  });

  /** An endpoint with one delivery in flight that hangs, whose lease this service holds. */
  async function hanging(path: string) {
    receiver.answerWith((received, response) => {
      if (received.path !== path) ok(received, response);
    });
    const created = await service.createTenant("100");
    const hooks = webhooksOf(service, await service.token(created));
    const endpoint = await hooks.createEndpoint(receiver.url + path);
    await hooks.transact();
    await receiver.arrived(path, 1);
    const [delivery] = await hooks.list();
    const tenantId = readId("tnt", created.tenantId) ?? "";
    const endpointId = readId("whe", endpoint.id) ?? "";
    return { hooks, tenantId, endpointId, deliveryId: delivery?.id ?? "" };
  }
  const store = () => createSendingStore(service.keyed, () => undefined);
  const lease = (tenantId: string) =>
    store().leases.acquire(
      { tenantIds: [tenantId], areFailing: false, dueBy: new Date(), limit: 10 },
      randomUUID(),
      leaseMs,
    );
  const expire = (endpointId: string) =>
    service.database.query(
      sql`UPDATE webhook_leases SET expires_at = '-infinity' WHERE endpoint_id = ${endpointId}`,
    );
  const delivered = (own: EndpointLease, deliveryId: string): AttemptResult => ({
    lease: own,
    deliveryId: readId("dlv", deliveryId) ?? "",
    attempt: { at: new Date().toISOString(), latencyMs: 1, status: 200, error: null, excerpt: "" },
    next: { state: "delivered", at: new Date() },
  });

  it("is held by one process at a time, and free when it has expired", async () => {
    const { tenantId, endpointId } = await hanging("/held");
    expect(await lease(tenantId)).toEqual([]);
    await expire(endpointId);
    const [first, second] = await Promise.all([lease(tenantId), lease(tenantId)]);
    expect([...(first ?? []), ...(second ?? [])]).toHaveLength(1);
  });

  it("prevents a former holder from reporting, renewing or releasing", async () => {
    const { hooks, tenantId, endpointId, deliveryId } = await hanging("/fenced");
    await expire(endpointId);
    const [before] = await lease(tenantId);
    await expire(endpointId);
    const [now] = await lease(tenantId);
    if (before === undefined || now === undefined) throw new Error("there was no lease to take");
    expect(BigInt(now.fence)).toBe(BigInt(before.fence) + 1n);
    await store().recordResults([delivered(before, deliveryId)], []);
    await store().leases.release([before]);
    expect(await store().leases.renew([before], leaseMs)).toEqual([]);
    expect(await lease(tenantId)).toEqual([]);
    expect(await hooks.readDelivery(deliveryId)).toMatchObject({ state: "pending", attempts: [] });
    await store().recordResults([delivered(now, deliveryId)], []);
    expect(await hooks.readDelivery(deliveryId)).toMatchObject({ state: "delivered", attempt_count: 1 });
    // A repeated result changes nothing.
    await store().recordResults([delivered(now, deliveryId)], []);
    expect(await hooks.list()).toHaveLength(1);
  });

  it("is checked for each result of a batch, and each result keeps its own time", async () => {
    const [lost, held, retried] = [await hanging("/lost"), await hanging("/kept"), await hanging("/retried")];
    const overdue = await hanging("/overdue");
    const take = async ({ tenantId, endpointId }: typeof lost) => {
      await expire(endpointId);
      const [own] = await lease(tenantId);
      if (own === undefined) throw new Error("there was no lease to take");
      return own;
    };
    const [ofLost, ofHeld, ofRetried] = [await take(lost), await take(held), await take(retried)];
    const ofOverdue = await take(overdue);
    await take(lost);
    const finishedAt = new Date("2026-03-01T10:20:30.407Z");
    const dueAt = new Date("2126-03-01T10:20:30.999Z");
    await store().recordResults(
      [
        delivered(ofLost, lost.deliveryId),
        { ...delivered(ofHeld, held.deliveryId), next: { state: "delivered", at: finishedAt } },
        { ...delivered(ofRetried, retried.deliveryId), next: { state: "pending", dueAt } },
        { ...delivered(ofOverdue, overdue.deliveryId), next: { state: "pending", dueAt: finishedAt } },
      ],
      [],
    );
    const read = ({ hooks, deliveryId }: typeof lost) => hooks.readDelivery(deliveryId);
    expect(await read(lost)).toMatchObject({ state: "pending", attempts: [] });
    expect(await read(held)).toMatchObject({
      state: "delivered",
      attempt_count: 1,
      finished_at: finishedAt.toISOString(),
    });
    expect(await read(retried)).toMatchObject({
      state: "pending",
      attempt_count: 1,
      next_attempt_at: dueAt.toISOString(),
    });
    // A time in the past would say that something was planned and did not happen.
    expect(await read(overdue)).toMatchObject({ state: "pending", next_attempt_at: null });
  });

  it("is released by a process that stops, after the requests in flight are answered and recorded", async () => {
    const own = await startClockedParts();
    const tenant = await own.createTenant();
    await tenant.createEndpoint(`${receiver.url}/stopping`);
    let finish: (() => void) | undefined;
    receiver.answerWith((_received, response) => {
      finish = () => response.end("late");
    });
    await tenant.transact();
    await receiver.arrived("/stopping", 1);
    const answer = await eventually(
      () => finish,
      (found) => found !== undefined,
    );
    const closed = own.parts.close();
    answer?.();
    await closed;
    const [delivery] = await tenant.deliveries();
    expect(delivery).toMatchObject({ state: "delivered", attempts: [{ excerpt: "late" }] });
    expect(await freeLeases(own.database)).toBe(1);
    await own.stop();
  });

  it("is released by a process that stops, together with deliveries that did not finish in time", async () => {
    const own = await startClockedParts();
    const tenant = await own.createTenant();
    await tenant.createEndpoint(`${receiver.url}/never`);
    receiver.answerWith(() => undefined);
    await tenant.transact();
    await receiver.arrived("/never", 1);
    await own.parts.close();
    const [delivery] = await tenant.deliveries();
    expect(delivery).toMatchObject({ state: "pending", attempts: [] });
    expect(await freeLeases(own.database)).toBe(1);
    await own.stop();
  });
});

async function freeLeases(database: Database): Promise<number> {
  const rows = await database.query(
    sql`SELECT FROM webhook_leases WHERE holder IS NULL AND expires_at <= now()`,
  );
  return rows.length;
}
