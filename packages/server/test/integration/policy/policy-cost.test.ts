import { randomUUID } from "node:crypto";
import { createTimeZones } from "@bursar/domain";
import { readId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { createActivePolicies } from "../../../src/app/policy/active-policies.js";
import { sharedService } from "../../harness/service/shared-service.js";
import { policyOf } from "../../harness/transactions/policy-client.js";

const service = await sharedService();

/** Rules that all name the same groups: a small document that is expensive to compile. */
const crowd = (clientId: string, rules: number) => ({
  groups: { officers: [clientId] },
  rules: Array.from({ length: rules }, (_, number) => ({
    name: `rule-${number}`,
    when: { clients: [clientId], assets: ["USD"] },
    action: "require_approval",
    approvals: 1,
    from: { groups: ["officers"] },
  })),
  default: { action: "allow" },
});

describe("a policy of many references", () => {
  it("is refused before it is compiled, and the answer names the limit", async () => {
    const owner = await service.createTenant();
    const policy = policyOf(service, await service.token(owner));
    const ids = Array.from({ length: 100 }, () => owner.client.id);
    const groups = Object.fromEntries(Array.from({ length: 5 }, (_, number) => [`group-${number}`, ids]));
    const rule = { action: "require_approval", approvals: 1, from: { groups: Object.keys(groups) } };
    const rules = [1, 2, 3].map((number) => ({ name: `rule-${number}`, when: {}, ...rule }));
    const document = { groups, rules, default: { action: "allow" } };
    const details = [{ path: "body", reason: expect.stringMatching(/^lists 2015 .*the limit is 2000$/) }];
    const { status, body } = await policy.replace(document);
    expect([status, body.error?.code, body.error?.details]).toEqual([422, "POLICY_INVALID", details]);
    const evaluated = await policy.send("POST", "/v1/policy/evaluate", {
      transaction: { reference: "r", asset: "USD", amount: "1" },
      document,
    });
    expect([evaluated.status, evaluated.body.error?.details?.[0]?.path]).toEqual([422, "body.document"]);
  });

  it("is not received at all if it is larger than a valid one can be", async () => {
    const policy = policyOf(service, await service.token(await service.createTenant()));
    const document = { rules: [], default: { action: "allow" }, padding: "x".repeat(300_000) };
    const transaction = { reference: "r", asset: "USD", amount: "1" };
    expect((await policy.replace(document)).status).toBe(413);
    expect((await policy.send("POST", "/v1/policy/evaluate", { transaction, document })).status).toBe(413);
  });
});

describe("a stored policy", () => {
  it("is compiled once for each version, though it is looked up again and again", async () => {
    const reads: number[] = [];
    let version = 1;
    let nowMs = 0;
    const clientId = "cli_01h2xcejqtf2nbrexx3vqjhp41";
    const policies = createActivePolicies({
      store: {
        readPolicyVersion: async () => version,
        readPolicy: async () => {
          reads.push(version);
          return { version, document: crowd(clientId, 100) as never, updatedAt: new Date(0), guards: [] };
        },
      },
      world: {
        assets: { list: [], find: () => undefined },
        networks: new Set(),
        timeZones: createTimeZones(),
      } as never,
      wakeUps: { subscribe: () => () => undefined },
      monotonicMs: () => nowMs,
    });
    const tenantId = readId("cli", clientId) ?? randomUUID();
    const first = await policies.load(tenantId);
    for (let turn = 0; turn < 5; turn++) {
      nowMs += 5000;
      expect(policies.peek(tenantId)).toBeUndefined();
      expect(await policies.load(tenantId)).toBe(first);
    }
    expect(reads).toEqual([1]);
    version = 2;
    expect(await policies.load(tenantId)).not.toBe(first);
    expect(reads).toEqual([1, 2]);
  });
});
