import type { ClientUsage } from "@bursar/protocol";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUsageWriter } from "../../../../src/app/clients/client-usage.js";
import type { CountedClient } from "../../../../src/app/quotas/quota-keeper.js";
import { createUsageStore, removeOldClientHours } from "../../../../src/store/access/client-usage.js";
import { OutcomeUnknownError } from "../../../../src/store/core/database-unavailable-error.js";
import { sql } from "../../../../src/store/core/sql.js";
import {
  startTestService,
  type TestClient,
  type TestService,
} from "../../../harness/service/test-service.js";

describe("the usage of a client", () => {
  let service: TestService;
  let owner: TestClient;
  let key: { tenantId: string; clientId: string };
  let token: string;
  beforeAll(async () => {
    service = await startTestService({ "quotas.bulk_burst": "1", "quotas.bulk_per_second": "1" });
    owner = await service.createTenant("100");
    key = { tenantId: readId("tnt", owner.tenantId) ?? "", clientId: readId("cli", owner.clientId) ?? "" };
    token = await service.token(owner);
  });
  afterAll(() => service.stop());

  const usage = async (query = ""): Promise<ClientUsage> =>
    (await (
      await service.call("GET", `/v1/clients/${owner.clientId}/usage${query}`, token)
    ).json()) as ClientUsage;
  const nothing = { requests: 0, refused: 0, rateLimited: 0, failed: 0, cost: 0 };
  const writerOf = (batches: CountedClient[][], nowMs: number) =>
    createUsageWriter({
      store: createUsageStore(service.database),
      take: () => batches.shift() ?? [],
      isOutcomeUnknown: () => false,
      now: () => nowMs,
    });

  it("has its requests by outcome, and what they cost, when the process has written them down", async () => {
    const other = await service.another();
    const call = (method: string, path: string, body?: unknown) => other.call(method, path, token, body);
    for (const _ of [1, 2, 3]) await call("GET", "/v1/wallets");
    await call("GET", "/v1/wallets/wlt_nobody");
    const batch = {
      transactions: Array.from({ length: 30 }, (_, at) => ({
        idempotency_key: `${at}`,
        reference: "usage",
        asset: "USD",
        amount: "1",
      })),
    };
    expect((await call("POST", "/v1/transactions/batch", batch)).status).toBe(202);
    expect((await call("POST", "/v1/transactions/batch", batch)).status).toBe(429);
    // Stopping writes the rest.
    await other.service.stop();
    const [row] = await service.database.query<Record<string, string>>(sql`
      SELECT sum(requests) AS requests, sum(refused) AS refused, sum(rate_limited) AS limited, sum(cost) AS cost
      FROM client_hours WHERE client_id = ${key.clientId}`);
    expect(row).toMatchObject({ requests: "6", refused: "1", limited: "1" });
    // A token for each but the one that was limited, and three for the items.
    expect(Number(row?.["cost"])).toBe(5 + 3);
  });

  it("is shown by hour and day, within a time, with what is left of the quotas", async () => {
    await service.database.query(sql`
      INSERT INTO client_hours SELECT ${key.tenantId}, ${key.clientId}, '2026-11-01T00:00:00Z'::timestamptz + n * interval '1 hour',
        2, 1, 0, 0, 3 FROM generate_series(0, 47) n`);
    const within = "from=2026-11-01T00:00:00Z&to=2026-11-03T00:00:00Z";
    expect((await usage(`?period=hour&${within}`)).data).toHaveLength(48);
    const shown = await usage(`?${within}`);
    expect(shown.data).toEqual([
      { start: "2026-11-01T00:00:00.000Z", requests: 48, refused: 24, rate_limited: 0, failed: 0, cost: 72 },
      { start: "2026-11-02T00:00:00.000Z", requests: 48, refused: 24, rate_limited: 0, failed: 0, cost: 72 },
    ]);
    const bulk = shown.quotas.find(({ class: name }) => name === "bulk");
    expect(bulk).toMatchObject({ per_second: 1, burst: 1 });
    for (const { remaining, burst } of shown.quotas) {
      expect(remaining).toBeGreaterThanOrEqual(0);
      expect(remaining).toBeLessThanOrEqual(burst);
    }
  });

  it("is added up over processes, and what could not be written is written later, once", async () => {
    const hour = Date.parse("2026-10-05T10:30:00Z");
    const counted = (requests: number): CountedClient => ({ ...key, counts: { ...nothing, requests } });
    await Promise.all([writerOf([[counted(1), counted(2)]], hour)(), writerOf([[counted(4)]], hour)()]);
    let isFailing = true;
    const store = createUsageStore(service.database);
    const batches = [[counted(8)], [counted(16)]];
    const write = createUsageWriter({
      store: {
        add: (some, at) => (isFailing ? Promise.reject(new Error("unavailable")) : store.add(some, at)),
      },
      take: () => batches.shift() ?? [],
      isOutcomeUnknown: () => false,
      now: () => hour,
    });
    await expect(write()).rejects.toThrow("unavailable");
    isFailing = false;
    await write();
    await write();
    const { data } = await usage("?period=hour&from=2026-10-05T10:00:00Z&to=2026-10-05T11:00:00Z");
    expect(data).toMatchObject([{ start: "2026-10-05T10:00:00.000Z", requests: 31 }]);
  });

  it("is counted once if the answer to the write is lost", async () => {
    const hour = Date.parse("2026-10-07T10:30:00Z");
    const batches: CountedClient[][] = [5, 7].map((requests) => [
      { ...key, counts: { ...nothing, requests } },
    ]);
    const store = createUsageStore(service.database);
    let isLost = true;
    const write = createUsageWriter({
      store: {
        add: async (...given) => {
          await store.add(...given);
          if (isLost) throw new OutcomeUnknownError("the answer to a commit was lost");
        },
      },
      take: () => batches.shift() ?? [],
      isOutcomeUnknown: (error) => error instanceof OutcomeUnknownError,
      now: () => hour,
    });
    await expect(write()).rejects.toThrow("lost");
    isLost = false;
    await write();
    const { data } = await usage("?period=hour&from=2026-10-07T10:00:00Z&to=2026-10-07T11:00:00Z");
    expect(data).toMatchObject([{ requests: 12 }]);
  });

  it("is counted once if the process stops while it is being written", async () => {
    const hour = Date.parse("2026-10-06T10:30:00Z");
    const batches: CountedClient[][] = [[{ ...key, counts: { ...nothing, requests: 5 } }]];
    const store = createUsageStore(service.database);
    const slow: typeof store.add = async (...given) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      await store.add(...given);
    };
    const write = createUsageWriter({
      store: { add: slow },
      take: () => batches.shift() ?? [],
      isOutcomeUnknown: () => false,
      now: () => hour,
    });
    await Promise.all([write(), write()]);
    const { data } = await usage("?period=hour&from=2026-10-06T10:00:00Z&to=2026-10-06T11:00:00Z");
    expect(data).toMatchObject([{ requests: 5 }]);
  });

  it("is forgotten after 90 days", async () => {
    await service.database.query(sql`
      INSERT INTO client_hours VALUES (${key.tenantId}, ${key.clientId}, now() - interval '91 days', 1, 0, 0, 0, 1)`);
    await removeOldClientHours(service.database);
    expect((await usage("?to=2026-08-20T00:00:00Z")).data).toEqual([]);
  });

  it.each(["?period=week", "?from=yesterday", "?from=2026-13-01T00:00:00Z", "?limit=1", "?to="])(
    "refuses %s",
    async (query) => {
      const answer = await service.call("GET", `/v1/clients/${owner.clientId}/usage${query}`, token);
      expect(answer.status).toBe(400);
    },
  );
});
