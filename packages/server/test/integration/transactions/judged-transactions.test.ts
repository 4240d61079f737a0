import { createBursar } from "@bursar/client";
import type { PolicyDocument } from "@bursar/domain";
import type { Transaction } from "@bursar/protocol";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { createPolicyTenant, type PolicyTenant } from "../../harness/transactions/policy-client.js";

const service = await inspectSharedService();

describe("a transaction under a policy", () => {
  let tenant: PolicyTenant;
  const allow = { action: "allow" } as const;

  afterAll(async () => {
    for (const { what, violations } of await auditLedger(service.database))
      expect(violations, what).toEqual([]);
  });
  beforeEach(async () => {
    tenant = await createPolicyTenant(service);
  });

  it("is refused synchronously if the rule needs no sums: nothing is created and the key stays unused", async () => {
    await tenant.usePolicy({
      rules: [
        {
          name: "small-only",
          when: { amount: { asset: "USD", min: "100.01" } },
          action: "reject",
          reason: "Too much.",
        },
      ],
      default: allow,
    });
    const refused = await tenant.create("200", "the-key");
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      error: { code: "POLICY_REJECTED", message: "Too much.", details: [{ path: "policy.small-only" }] },
    });
    const accepted = await tenant.create("100", "the-key");
    expect(accepted.status).toBe(202);
    const first = (await accepted.json()) as Transaction;
    expect(first).toMatchObject({ policy_version: 1, policy_rule: "default", approval: null });
    await tenant.settled(first.id, "completed");
    // A repeated request, after the policy has changed to reject it.
    await service.database.query(sql`
      INSERT INTO policies SELECT tenant_id, 2, '{"rules":[],"default":{"action":"reject","reason":"Closed."}}', client_id, now()
      FROM policies WHERE tenant_id = ${tenant.tenantId}
    `);
    await eventually(
      () => tenant.create("1").then(({ status }) => status),
      (status) => status === 403,
    );
    const replayed = await tenant.create("100", "the-key");
    expect(replayed.status).toBe(202);
    expect(await replayed.json()).toEqual(first);
    expect((await tenant.create("99", "the-key")).status).toBe(422);
  });

  it("never exceeds a rolling limit, with many concurrent requests in two processes", async () => {
    const limit = (per: "client" | "wallet" | "tenant"): PolicyDocument => ({
      rules: [
        {
          name: "daily",
          when: { sum: { asset: "USD", per, period_seconds: 86_400, above: "1000.00" } },
          action: "reject",
          reason: "The daily limit is exhausted.",
        },
      ],
      default: allow,
    });
    await tenant.usePolicy(limit("client"));
    const other = await service.another();
    try {
      const clients = [service.url, other.url].map((baseUrl) =>
        createBursar({ baseUrl, credentials: () => tenant.token, retriesMax: 0 }),
      );
      const body = { reference: "many", asset: "USD", amount: "7.01" };
      const answers = await Promise.all(
        Array.from({ length: 400 }, (_, index) =>
          clients[index % 2]?.transactions.create(body, { idempotencyKey: `many-${index}` }),
        ),
      );
      expect(new Set(answers.map((answer) => answer?.lastResponse.status))).toEqual(new Set([202]));
      const states = await eventually(
        () =>
          service.database.query<{ state: string; count: string }>(sql`
            SELECT state, count(*) FROM events WHERE tenant_id = ${tenant.tenantId}
            GROUP BY state ORDER BY state
          `),
        (rows) => rows.reduce((sum, { count }) => sum + Number(count), 0) === 400,
      );
      // 142 times 7.01 is 995.42; one more would exceed the limit.
      expect(states).toEqual([
        { state: "completed", count: "142" },
        { state: "rejected", count: "258" },
      ]);
    } finally {
      await other.stop();
    }
    const { data } = (await (
      await service.call("GET", "/v1/transactions?state=rejected&limit=1", tenant.token)
    ).json()) as {
      data: Transaction[];
    };
    expect(data[0]?.failure).toEqual({
      code: "POLICY_REJECTED",
      message: "The daily limit is exhausted.",
      rule: "daily",
    });
  });

  it("counts transactions within the period and no older ones", async () => {
    await tenant.usePolicy({
      rules: [
        {
          name: "hourly",
          when: { count: { per: "wallet", period_seconds: 3600, above: 2 } },
          action: "reject",
          reason: "Too many.",
        },
      ],
      default: allow,
    });
    for (const state of ["completed", "completed", "rejected"] as const) {
      const { id } = (await (await tenant.create("1")).json()) as Transaction;
      await tenant.settled(id, state);
    }
    // A period begins inside a bucket of a minute, which counts as a whole.
    await service.database.query(sql`
      UPDATE usage_buckets SET start = start - interval '61 minutes' WHERE window_id IN (SELECT id FROM usage_windows WHERE tenant_id = ${tenant.tenantId})
    `);
    const { id } = (await (await tenant.create("1")).json()) as Transaction;
    await tenant.settled(id, "completed");
  });
});
