import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { batchOf } from "../../harness/transactions/batch-of.js";

describe("the cost of a request", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ "quotas.read_per_second": "1", "quotas.read_burst": "20" });
  });
  afterAll(() => service.stop());

  it("of large answers is charged before the next one is made, however many were admitted before", async () => {
    const token = await service.token(await service.createTenant());
    await service.call("POST", "/v1/transactions/batch", token, batchOf(200));
    const read = () => service.call("GET", "/v1/transactions?limit=200", token);
    const answers = await service.database.session(async (session) => {
      await session.script("BEGIN; LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE");
      const reading = Array.from({ length: 18 }, read);
      await sleep(500);
      await session.script("ROLLBACK");
      return await Promise.all(reading);
    });
    // Each costs more than half of the burst. A few of a tenant are made at once.
    const served = answers.filter(({ status }) => status === 200).length;
    expect(served).toBeGreaterThan(0);
    expect(served).toBeLessThan(9);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(18 - served);
    // When they were admitted, there was some of the burst left.
    for (const { headers } of refused) expect(headers.get("ratelimit")).toMatch(/^"read";r=0;t=\d+$/);
  });
});
