import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";
import { openStream } from "../../harness/stream/stream-client.js";

const perSecond = 20;
const burst = 20;
/** Four pages, each of which costs more than half of the burst. */
const eventCount = 800;

describe("history on a stream", () => {
  let service: TestService;
  let tenant: TestClient;
  beforeAll(async () => {
    service = await startTestService({
      "quotas.read_per_second": `${perSecond}`,
      "quotas.read_burst": `${burst}`,
    });
    tenant = await service.createTenant("1000");
    const transactions = Array.from({ length: eventCount }, () => ({
      idempotency_key: randomUUID(),
      reference: "stream",
      asset: "USD",
      amount: "0.01",
    }));
    await service.call("POST", "/v1/transactions/batch", await service.token(tenant), { transactions });
    // They have happened before: what happens while a stream is open costs nothing.
    const tenantId = readId("tnt", tenant.tenantId);
    await eventually(
      () =>
        service.database.query<{ count: number }>(
          sql`SELECT count(*)::integer AS count FROM events WHERE tenant_id = ${tenantId}`,
        ),
      ([row]) => (row?.count ?? 0) >= eventCount,
    );
  });
  afterAll(() => service.stop());

  const subscribe = async (token: string) => {
    const stream = await openStream(service.url, { token });
    stream.send({ type: "subscribe", channel: "events", since: 0 });
    return stream;
  };
  const hire = async () => (await service.createIndependentClient(tenant, ["events:read"])).token;

  it("costs what it costs in a list, and is sent at the pace of the quota", async () => {
    const token = await hire();
    const beganMs = performance.now();
    const stream = await subscribe(token);
    await eventually(
      () => stream.sequences().length,
      (length) => length >= eventCount,
    );
    const seconds = (performance.now() - beganMs) / 1000;
    const bytes = stream.messages
      .slice(0, eventCount * 0.75)
      .reduce((sum, message) => sum + JSON.stringify(message).length, 0);
    // Three pages are paid for before the last one is sent: with the burst, with what was gained, and with one instalment of debt.
    const gained = bytes / 8192 - burst - (2 * burst) / 10;
    expect(gained).toBeGreaterThan(perSecond);
    expect(seconds).toBeGreaterThan(gained / perSecond);
    stream.ws.close();
  });

  it("leaves enough of the tenant's quota to the requests of other clients", async () => {
    const colleague = await hire();
    const readers = await Promise.all([hire(), hire(), hire(), hire(), hire()]);
    const streams = await Promise.all(readers.map(subscribe));
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      await sleep(150);
      statuses.push((await service.call("GET", "/v1/me", colleague)).status);
    }
    expect(statuses).toEqual(statuses.map(() => 200));
    expect(streams.some((stream) => stream.sequences().length < eventCount)).toBe(true);
    for (const stream of streams) stream.ws.terminate();
  });
});
