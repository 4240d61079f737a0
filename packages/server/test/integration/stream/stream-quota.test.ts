import { randomUUID } from "node:crypto";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { openStream } from "../../harness/stream/stream-client.js";

describe("history on a stream", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ "quotas.read_per_second": "5", "quotas.read_burst": "60" });
  });
  afterAll(() => service.stop());

  it("costs what it costs in a list, and is sent at the pace of the quota", async () => {
    const tenant = await service.createTenant("1000");
    const token = await service.token(tenant);
    const transactions = Array.from({ length: 400 }, () => ({
      idempotency_key: randomUUID(),
      reference: "stream",
      asset: "USD",
      amount: "0.01",
    }));
    await service.call("POST", "/v1/transactions/batch", token, { transactions });
    // They have happened before: what happens while a stream is open costs nothing.
    const tenantId = readId("tnt", tenant.tenantId);
    await eventually(
      () =>
        service.database.query<{ count: number }>(
          sql`SELECT count(*)::integer AS count FROM events WHERE tenant_id = ${tenantId}`,
        ),
      ([row]) => (row?.count ?? 0) >= 400,
    );
    const stream = await openStream(service.url, { token });
    const beganMs = performance.now();
    stream.send({ type: "subscribe", channel: "events", since: 0 });
    await eventually(
      () => stream.sequences().length,
      (length) => length >= 400,
    );
    const seconds = (performance.now() - beganMs) / 1000;
    const answer = await service.call("GET", "/v1/me", token);
    const left = Number(/r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
    const bytes = stream.messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
    // What was gained in the meantime is not missing.
    expect(60 - left + 5 * seconds).toBeGreaterThan(bytes / 8192);
    stream.ws.close();
  });
});
