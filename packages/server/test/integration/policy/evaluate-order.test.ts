import type { PolicyDocument } from "@bursar/domain";
import type { PolicyEvaluation } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import type { InspectableService } from "../../harness/service/test-service.js";
import { createPolicyTenant, type PolicyTenant } from "../../harness/transactions/policy-client.js";

describe("a policy evaluation of an order", () => {
  let service: InspectableService;
  let tenant: PolicyTenant;
  beforeAll(async () => {
    service = await inspectSharedService();
    tenant = await createPolicyTenant(service);
  });

  it("finds the destination market, which is refused by default", async () => {
    const order = { market: "ETH-USD", side: "sell", price: "3000", size: "1" };
    const evaluateOrder = async (more: object = {}) => {
      const answer = await service.call("POST", "/v1/policy/evaluate", tenant.token, { order, ...more });
      return {
        status: answer.status,
        body: (await answer.json()) as PolicyEvaluation & { error?: { details: { path: string }[] } },
      };
    };
    expect((await evaluateOrder()).body).toMatchObject({
      action: "reject",
      rule: "no-orders",
      reason: expect.stringContaining("PUT /v1/policy"),
      decided: "at_once",
    });
    const byRule = async (...rules: PolicyDocument["rules"]) => {
      const document = { rules, default: { action: "reject", reason: "no" } };
      const { action, rule, reason, decided } = (await evaluateOrder({ document })).body;
      return { action, rule, reason, decided };
    };
    const name = "it";
    const allowed = { action: "allow", rule: name, reason: null, decided: "at_once" };
    expect(await byRule({ name, when: { markets: ["ETH-USD"] }, action: "allow" })).toEqual(allowed);
    expect(await byRule({ name, when: { markets: ["USDC-USD"] }, action: "allow" })).toMatchObject({
      action: "reject",
      rule: "default",
    });
    expect(await byRule({ name, when: {}, action: "require_approval", approvals: 1 })).toMatchObject({
      action: "reject",
      rule: name,
      reason: expect.stringContaining("cannot wait for"),
    });
    const sum = { asset: "ETH", per: "tenant", period_seconds: 3600, above: "0.5" } as const;
    expect(
      await byRule({ name, when: { kind: "order", sum }, action: "reject", reason: "Too much." }),
    ).toMatchObject({
      action: "reject",
      rule: name,
      decided: "later",
    });
    const wrong = await evaluateOrder({ order: { ...order, market: "ETH-EUR" } });
    expect([wrong.status, wrong.body.error?.details]).toMatchObject([422, [{ path: "body.order.market" }]]);
    const transaction = { reference: "r", asset: "USD", amount: "1" };
    for (const body of [{}, { order, transaction }]) {
      const refused = await service.call("POST", "/v1/policy/evaluate", tenant.token, body);
      expect(refused.status).toBe(400);
    }
  });
});
