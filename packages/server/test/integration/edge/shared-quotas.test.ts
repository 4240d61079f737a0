import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createTcpProxy } from "../../harness/http/tcp-proxy.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

const metricsToken = "for-the-metrics";

describe("the quota of a client with three processes", () => {
  let services: TestService[];
  beforeAll(async () => {
    const first = await startTestService({ BURSAR_METRICS_TOKEN: metricsToken });
    services = [first, await first.another(), await first.another()];
  });
  afterAll(async () => {
    for (const service of services.reverse()) await service.stop();
  });

  it("is enforced by all of them together", async () => {
    const [first] = services as [TestService];
    const owner = await first.createTenant();
    const quota = { per_second: 10, burst: 50 };
    await first.database.query(
      sql`UPDATE clients SET quotas = ${JSON.stringify({ read: quota })} WHERE id = ${owner.client.id}`,
    );
    const token = await first.token(owner);
    const beganAtMs = Date.now();
    let [admitted, refused] = [0, 0];
    const hammer = async (service: TestService) => {
      while (Date.now() - beganAtMs < 5000) {
        const response = await service.call("GET", "/v1/assets", token);
        await response.arrayBuffer();
        if (response.status === 200) admitted += 1;
        else {
          expect(response.status).toBe(429);
          refused += 1;
          // Paced, so that the database gets CPU time.
          await sleep(5);
        }
      }
    };
    await Promise.all(services.flatMap((service) => [hammer(service), hammer(service)]));
    const allowed = quota.burst + (quota.per_second * (Date.now() - beganAtMs)) / 1000;
    expect(refused).toBeGreaterThan(0);
    // Every token comes from the shared bucket, so the quota is never exceeded; each process may hold a tenth of the burst unused. If the
    // machine is so busy that the database does not answer in time, each process continues on its own and counts that in a metric.
    const unanswered = await Promise.all(services.map(countUnanswered));
    const buckets = unanswered.every((count) => count === 0) ? 1 : services.length;
    expect(admitted).toBeLessThanOrEqual(allowed * buckets);
    expect(admitted).toBeGreaterThan((allowed - services.length * (quota.burst / 10)) * 0.8);
  });
});

async function countUnanswered({ url }: TestService): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
  const found = /^bursar_quota_reservations_unanswered_total (\d+)$/m.exec(await response.text());
  if (found === null) throw new Error("the metric is missing");
  return Number(found[1]);
}

describe("a quota without its database", () => {
  it("continues in each process, so that clients get the error of the actual problem", async () => {
    const behind = await startTestService();
    const owner = await behind.createTenant();
    const target = new URL(behind.database.url);
    const proxy = await createTcpProxy({ host: target.hostname, port: Number(target.port) });
    const url = new URL(behind.database.url);
    url.hostname = "127.0.0.1";
    url.port = String(proxy.port);
    const open: typeof openDatabase = (options) => openDatabase({ ...options, url: url.href });
    const front = await startTestService(
      {},
      { database: behind.database, masterKey: behind.masterKey, publicUrl: behind.url },
      open,
    );
    try {
      const token = await front.token(owner);
      const read = () => front.call("GET", "/v1/wallets", token);
      expect((await read()).status).toBe(200);
      await proxy.cut();
      const statuses = [];
      for (let count = 0; count < 50; count++) statuses.push((await read()).status);
      expect(new Set(statuses)).toEqual(new Set([503]));
      await proxy.restore();
      await eventually(read, ({ status }) => status === 200);
    } finally {
      await front.stop();
      await behind.stop();
    }
  });
});
