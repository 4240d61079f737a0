import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { type Answer, transactionsOf } from "../../harness/transactions/transactions-client.js";

/** The central guarantees under contention. Two services share the database. */
describe("exactly once", () => {
  let first: TestService;
  let second: TestService;
  beforeAll(async () => {
    first = await startTestService({
      "quotas.create_per_second": "1000000",
      "quotas.create_burst": "1000000",
      "limits.requests_per_client": "100000",
      "limits.connections_per_client": "100000",
      "limits.heavy_requests_per_tenant": "1000",
      "quotas.bulk_per_second": "1000000",
      "quotas.bulk_burst": "1000000",
    });
    second = await first.another();
  });
  afterAll(async () => {
    await second.stop();
    await first.stop();
  });

  const setUp = async (usd: string) => {
    const owner = await first.createTenant(usd);
    const token = await first.token(owner);
    return [transactionsOf(first, token), transactionsOf(second, token)] as const;
  };
  const nothingOpen = () =>
    eventually(
      async () => (await first.database.query(sql`SELECT FROM open_transactions LIMIT 1`)).length,
      (count) => count === 0,
    );
  const violations = async () =>
    (await auditLedger(first.database)).filter((verdict) => verdict.violations.length > 0);

  it("75 keys, each sent 20 times at once to two services, are 75 transactions with one answer each", async () => {
    const apis = await setUp("1000000");
    const keys = Array.from({ length: 75 }, (_, index) => `race-${index}`);
    for (let start = 0; start < keys.length; start += 25) {
      const slice = keys.slice(start, start + 25);
      const answers = await Promise.all(
        slice.flatMap((key) =>
          Array.from({ length: 20 }, async (_, copy) => {
            const { status, text } = await (apis[copy % 2] ?? apis[0]).create(
              { reference: key, asset: "USD", amount: "1" },
              key,
            );
            return { key, status, text };
          }),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
      for (const key of slice) {
        expect(new Set(answers.filter((answer) => answer.key === key).map(({ text }) => text)).size).toBe(1);
      }
    }
    await nothingOpen();
    expect((await apis[0].balances())["settlement"]).toMatchObject({ available: "75" });
    expect(await violations()).toEqual([]);
  });

  it("bodies that differ under one key have one winner", async () => {
    const apis = await setUp("1000");
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (apis[index % 2] ?? apis[0]).create(
          { reference: "same", asset: "USD", amount: String(index + 1) },
          "contested",
        ),
      ),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.error?.code === "IDEMPOTENCY_KEY_REUSED")).toHaveLength(19);
  });

  it("500 transactions at once against a balance for 100 complete exactly 100 times", async () => {
    const apis = await setUp("100");
    const made = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        (apis[index % 2] ?? apis[0]).create({ reference: "overdraft", asset: "USD", amount: "1" }),
      ),
    );
    expect(made.every(({ status }) => status === 202)).toBe(true);
    await nothingOpen();
    const [counts] = await first.database.query<{ completed: string; failed: string }>(sql`
      SELECT count(*) FILTER (WHERE state = 'completed') AS completed, count(*) FILTER (WHERE failure_code = 'INSUFFICIENT_FUNDS') AS failed
      FROM events e JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.subject_id WHERE t.reference = 'overdraft'
    `);
    expect(counts).toEqual({ completed: "100", failed: "400" });
    expect(await apis[0].balances()).toMatchObject({
      primary: { available: "0", held: "0" },
      settlement: { available: "100" },
    });
    expect(await violations()).toEqual([]);
  });

  it("a transaction is cancelled or completed, never both, when both are attempted at once", async () => {
    const apis = await setUp("1000");
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const { body } = await apis[0].create({ reference: "race", asset: "USD", amount: "1" });
        const cancelled = await apis[1].send("POST", `/v1/transactions/${body.id}/cancel`);
        const final = await apis[0].settled(body.id);
        return [cancelled.status, cancelled.body.error?.code ?? cancelled.body.state, final.state];
      }),
    );
    for (const outcome of outcomes) {
      expect([
        [202, "cancelled", "cancelled"],
        [409, "NOT_CANCELLABLE", "completed"],
      ]).toContainEqual(outcome);
    }
    expect(await violations()).toEqual([]);
  });

  it("a full queue refuses with OVERLOADED, and the service recovers afterwards", async () => {
    const [api] = await setUp("1000000");
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held = first.database.session(async (session) => {
      // Blocks writers only: readers continue, and do not occupy connections by waiting.
      await session.script("SET idle_in_transaction_session_timeout = 0");
      await session.script("BEGIN; LOCK TABLE transactions IN SHARE ROW EXCLUSIVE MODE");
      await released;
      await session.script("COMMIT");
    });
    await eventually(
      () =>
        first.database.query(sql`SELECT FROM pg_locks WHERE mode = 'ShareRowExclusiveLock' AND granted
        AND relation = 'transactions'::regclass`),
      (locks) => locks.length === 1,
    );
    const items = (batch: number) =>
      Array.from({ length: 1000 }, (_, index) => ({
        idempotency_key: `full-${batch}-${index}`,
        reference: "full",
        asset: "USD",
        amount: "0.01",
      }));
    const send = (batch: number) =>
      api.send("POST", "/v1/transactions/batch", { transactions: items(batch) });
    // While the table is locked, only batches that are refused as a whole are answered: the queue holds 10,000 items.
    const answering = Array.from({ length: 10 }, (_, batch) => send(batch));
    for (let isFull = false; !isFull; ) {
      const next = send(answering.length);
      answering.push(next);
      // A slow machine needs a while to read ten batches; more than a few further ones would be refused by the quota instead.
      const answer = await Promise.race([next, sleep(5000)]);
      isFull = answer !== undefined && codesOf(answer).includes("OVERLOADED");
    }
    release();
    await held;
    const codes = (await Promise.all(answering)).map(codesOf);
    expect(new Set(codes.flat())).toContain("accepted");
    // If filling the queue took so long that a write timed out, its outcome is unknown: sending its key again finds out.
    const expected = new Set(["accepted", "OVERLOADED", "UNAVAILABLE"]);
    expect(codes.flat().filter((code) => !expected.has(code))).toEqual([]);
    for (const [batch, ofBatch] of codes.entries())
      if (ofBatch.includes("UNAVAILABLE"))
        expect(codesOf(await send(batch)).filter((code) => !["accepted", "replayed"].includes(code))).toEqual(
          [],
        );
    expect((await api.create({ reference: "after", asset: "USD", amount: "1" })).status).toBe(202);
    await nothingOpen();
    expect(await violations()).toEqual([]);
  });
});

/** The result of each item of a batch. A batch that arrives when the queue is full is refused as a whole. */
function codesOf({ status, body }: Answer): string[] {
  if (status !== 202) return [body.error?.code ?? ""];
  const { data } = body as unknown as { data: { status: string; error?: { code: string } }[] };
  return data.map((item) => item.error?.code ?? item.status);
}
