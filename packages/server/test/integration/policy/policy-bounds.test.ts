import { describe, expect, it } from "vitest";
import { sharedService } from "../../harness/service/shared-service.js";
import { policyOf } from "../../harness/transactions/policy-client.js";

const service = await sharedService();

describe("a policy", () => {
  it("can use a limited number of different sums", async () => {
    const policy = policyOf(service, await service.token(await service.createTenant()));
    const rules = (count: number) => ({
      rules: Array.from({ length: count }, (_, number) => ({
        name: `rule-${number}`,
        when: { sum: { asset: "USD", per: "wallet", period_seconds: 60 + number, above: "1" } },
        action: "reject",
        reason: "too much",
      })),
      default: { action: "allow" },
    });
    expect((await policy.replace(rules(50))).status).toBe(200);
    const { status, body } = await policy.replace(rules(51));
    expect([status, body.error?.details]).toEqual([
      422,
      [{ path: "body.rules", reason: expect.stringContaining("more than 50 different sums") }],
    ]);
  });
});
