import type { PolicyDocument } from "@bursar/domain";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createActivePolicies } from "../../../src/app/policy/active-policies.js";
import { createPolicyCompiler } from "../../../src/app/policy/policy-compiler.js";
import { openDatabase } from "../../../src/store/core/database.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createPolicyStore } from "../../../src/store/policy/policies.js";
import { createSettlementStore } from "../../../src/store/transactions/settlement.js";
import { testAssets } from "../../harness/service/test-assets.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createPolicyTenant, policyOf } from "../../harness/transactions/policy-client.js";

const policy = (above: number): PolicyDocument => ({
  rules: [
    {
      name: "many",
      when: { count: { per: "tenant", period_seconds: 60, above } },
      action: "reject",
      reason: "Too many.",
    },
  ],
  default: { action: "allow" },
});

describe("a service with two connections to its database", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ BURSAR_DATABASE_CONNECTIONS: "2" });
  });
  afterAll(() => service.stop());

  it("settles while policies change under load", async () => {
    const tenants = await Promise.all(Array.from({ length: 4 }, () => createPolicyTenant(service)));
    for (let round = 0; round < 4; round += 1) {
      const sent = tenants.flatMap((tenant) => [
        policyOf(service, tenant.token)
          .replace(policy(1000 - round))
          .then(() => undefined),
        ...Array.from({ length: 10 }, async () => {
          const response = await tenant.create("1");
          return { tenant, id: ((await response.json()) as { id: string }).id };
        }),
      ]);
      for (const one of await Promise.all(sent))
        if (one !== undefined) await one.tenant.settled(one.id, "completed");
    }
  });

  it("needs no second connection to read a policy while it holds locks", async () => {
    const tenant = await createPolicyTenant(service);
    const tenantId = readId("tnt", tenant.owner.tenantId) ?? "";
    await policyOf(service, tenant.token).replace(policy(7));
    const single = openDatabase({ url: service.database.url, connectionsMax: 1, connectTimeoutMs: 2000 });
    try {
      const wakeUps = { publish: () => undefined, subscribe: () => () => undefined };
      const policies = createActivePolicies({
        store: createPolicyStore(single, wakeUps),
        compiler: createPolicyCompiler({
          assets: new Map(),
          networks: new Map(),
          markets: new Set(),
          timeZones: new Map(),
        } as never),
        wakeUps: wakeUps as never,
        monotonicMs: () => 0,
      });
      const { unitOfWork } = createSettlementStore(single, createEventLog(wakeUps), testAssets);
      // Another caller waits for the same policy and a connection; the unit of work must not wait for that caller.
      const loaded = await unitOfWork(async (unit) => {
        const other = policies.load(tenantId);
        other.catch(() => undefined);
        return (await policies.within(unit).loadAll([tenantId])).get(tenantId);
      });
      expect(loaded?.version).toBe(1);
      expect(policies.peek(tenantId)).toBe(loaded);
    } finally {
      await single.close();
    }
  });
});
