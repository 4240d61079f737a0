import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { batchOf } from "../../harness/transactions/batch-of.js";
import { policyOf } from "../../harness/transactions/policy-client.js";

describe("a large request", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ "limits.heavy_requests_per_tenant": "2" });
  });
  afterAll(() => service.stop());
  const newToken = async () => await service.token(await service.createTenant());

  it.each([
    [
      "a batch of 1000 invalid items",
      (): [string, unknown] => ["/v1/transactions/batch", batchOf(1000, { asset: "?" })],
    ],
    ["a batch of 1000 items that policy rejects", () => ["/v1/transactions/batch", batchOf(1000)]],
  ] as [string, () => [string, unknown]][])(
    "lets small ones pass while it is served: %s",
    async (_what, make) => {
      const owner = await service.createTenant();
      const token = await service.token(owner);
      const policy = policyOf(service, token);
      await policy.replace({ rules: [], default: { action: "reject", reason: "closed" } });
      const [path, body] = make();
      let isAnswered = false;
      const large = service.call("POST", path, token, body).then((response) => {
        isAnswered = true;
        return response;
      });
      let meanwhile = 0;
      while (!isAnswered) {
        const small = await fetch(`${service.url}/healthz`);
        await small.arrayBuffer();
        if (!isAnswered) meanwhile += 1;
      }
      const { data } = (await (await large).json()) as { data: { status: string }[] };
      expect(data.every(({ status }) => status === "error")).toBe(true);
      // It takes 40 slices, and each small request takes a few turns of the event loop.
      expect(meanwhile).toBeGreaterThanOrEqual(5);
    },
  );

  it("lets small ones pass while the largest policy is evaluated beside a batch of refused items", async () => {
    const token = await newToken();
    const policy = policyOf(service, token);
    await policy.replace({ rules: [], default: { action: "reject", reason: "closed" } });
    const evaluation = {
      transaction: { reference: "r", asset: "USD", amount: "1" },
      document: await largestPolicy(service, token),
    };
    const inProgress = new Set<Promise<number>>();
    const start = (path: string, body: unknown) => {
      const answered = service.call("POST", path, token, body).then(async (response) => {
        await response.arrayBuffer();
        inProgress.delete(answered);
        return response.status;
      });
      inProgress.add(answered);
      return answered;
    };
    const large = [start("/v1/policy/evaluate", evaluation), start("/v1/transactions/batch", batchOf(1000))];
    let meanwhile = 0;
    while (inProgress.size > 0) {
      await (await fetch(`${service.url}/healthz`)).arrayBuffer();
      if (inProgress.size > 0) meanwhile += 1;
    }
    expect(await Promise.all(large)).toEqual([200, 202]);
    expect(meanwhile).toBeGreaterThanOrEqual(5);
  });

  it("is every replacement of the policy, although its document is small", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    const document = { rules: [], default: { action: "allow" } };
    const replace = () =>
      service.call("PUT", "/v1/policy", token, document, { "if-match": '"0"' }).then(({ status }) => status);
    let replaced: Promise<number>[] = [];
    const first = await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM tenants WHERE id = ${readId("tnt", owner.tenantId)} FOR UPDATE`);
      // Two wait for the row, 50 for these two, and the others are refused.
      replaced = Array.from({ length: 54 }, replace);
      return await Promise.race(replaced);
    });
    expect(first).toBe(429);
    const statuses = await Promise.all(replaced);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });

  it("keeps its turn until its work has ended, although its client has disconnected", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "if-match": '"0"',
    };
    const body = JSON.stringify({ rules: [], default: { action: "allow" } });
    let refused = 0;
    const replace = async (signal?: AbortSignal) => {
      const init = { method: "PUT", headers, body, ...(signal === undefined ? {} : { signal }) };
      const { status } = await fetch(`${service.url}/v1/policy`, init);
      if (status === 429) refused += 1;
    };
    const later = await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM tenants WHERE id = ${readId("tnt", owner.tenantId)} FOR UPDATE`);
      const hangUp = new AbortController();
      const cut = [replace(hangUp.signal), replace(hangUp.signal)];
      const isWaiting = sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await eventually(
        () => service.database.query(isWaiting),
        (waiting) => waiting.length >= 2,
      );
      hangUp.abort();
      await Promise.allSettled(cut);
      // Fifty wait for the two whose work goes on.
      const started = Array.from({ length: 54 }, () => replace());
      await eventually(
        async () => refused,
        (count) => count === 4,
      );
      return started;
    });
    await Promise.all(later);
  });

  it("waits until at most one other of its tenant is in progress, and those of other tenants do not", async () => {
    await service.database.run(`
      CREATE FUNCTION slow_down() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_sleep(0.1); RETURN NULL; END $$;
      CREATE TRIGGER slow AFTER INSERT ON transactions FOR EACH STATEMENT EXECUTE FUNCTION slow_down();
    `);
    const tokens = [await newToken(), await newToken()] as const;
    const finished: string[] = [];
    const start = (who: string, token: string) =>
      service.call("POST", "/v1/transactions/batch", token, batchOf(250)).then((response) => {
        finished.push(who);
        return response.status;
      });
    const greedy = Array.from({ length: 6 }, () => start("greedy", tokens[0]));
    const statuses = await Promise.all([...greedy, start("other", tokens[1])]);
    expect(new Set(statuses)).toEqual(new Set([202]));
    expect(finished.at(-1)).toBe("greedy");
  });
});

/** A policy of almost 2000 references and 200 rules, none of which matches, so that all are evaluated. */
async function largestPolicy(service: TestService, token: string) {
  const wallets: string[] = [];
  for (let count = 0; count < 9; count++) {
    const made = await service.call("POST", "/v1/wallets", token, { name: `w${count}`, purpose: "payout" });
    wallets.push(((await made.json()) as { id: string }).id);
  }
  const rules = Array.from({ length: 200 }, (_, index) => ({
    name: `rule-${index}`,
    when: { source_wallets: wallets, amount: { asset: "USD", min: String(100_000 + index) } },
    action: "reject",
    reason: "x".repeat(256),
  }));
  return { rules, default: { action: "allow" } };
}
