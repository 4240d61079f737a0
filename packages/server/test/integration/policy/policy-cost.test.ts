import { randomUUID } from "node:crypto";
import { createTimeZones, type PolicyDocument, type PolicyRequest } from "@bursar/domain";
import { describe, expect, it } from "vitest";
import { createActivePolicies } from "../../../src/app/policy/active-policies.js";
import { createPolicyComparer } from "../../../src/app/policy/compare-policies.js";
import { planJudgement } from "../../../src/app/policy/judge-batch.js";
import type { ActivePolicyReads } from "../../../src/app/policy/policy.js";
import { createPolicyCompiler } from "../../../src/app/policy/policy-compiler.js";
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
  const clientId = "cli_01h2xcejqtf2nbrexx3vqjhp41";

  /** Policies over a store that says what was read, and how often. */
  function readingPolicies(guards: { version: number; until: Date }[] = []) {
    const reads: string[] = [];
    const state = { version: 1, nowMs: 0 };
    const store: ActivePolicyReads = {
      readPolicyVersions: async (tenantIds) => {
        reads.push(`${tenantIds.length} versions`);
        return new Map(tenantIds.map((tenantId) => [tenantId, state.version]));
      },
      readPolicies: async (keys) => {
        reads.push(`${keys.length} documents of version ${keys[0]?.version}`);
        const document = crowd(clientId, 3) as never;
        return keys.map((key) => ({
          ...key,
          document,
          updatedAt: new Date(0),
          guards: key.version === state.version ? guards : [],
        }));
      },
    };
    const policies = createActivePolicies({
      store,
      compiler: createPolicyCompiler({
        assets: { list: [], find: () => undefined },
        networks: new Set(),
        timeZones: createTimeZones(),
      } as never),
      wakeUps: { subscribe: () => () => undefined },
      monotonicMs: () => state.nowMs,
    });
    return { policies, store, reads, state };
  }

  it("is compiled once for each version, though it is looked up again and again", async () => {
    const { policies, reads, state } = readingPolicies();
    const tenantId = randomUUID();
    const first = await policies.load(tenantId);
    for (let turn = 0; turn < 5; turn++) {
      state.nowMs += 5000;
      expect(policies.peek(tenantId)).toBeUndefined();
      expect(await policies.load(tenantId)).toBe(first);
    }
    const documents = () => reads.filter((read) => read.includes("documents"));
    expect(documents()).toEqual(["1 documents of version 1"]);
    state.version = 2;
    expect(await policies.load(tenantId)).not.toBe(first);
    expect(documents()).toEqual(["1 documents of version 1", "1 documents of version 2"]);
  });

  it("is read together with those of all other tenants of a batch, also with its guards", async () => {
    const { policies, store, reads, state } = readingPolicies([{ version: 3, until: new Date(8.64e15) }]);
    state.version = 4;
    const tenantIds = Array.from({ length: 100 }, () => randomUUID());
    const requests = tenantIds.map((tenantId) => ({
      tenantId,
      destination: "own_wallet",
    })) as PolicyRequest[];
    await planJudgement(policies.within(store), requests);
    const page = (version: number) =>
      [32, 32, 32, 4].map((count) => `${count} documents of version ${version}`);
    expect(reads).toEqual(["100 versions", ...page(4), ...page(3)]);
    state.nowMs += 5000;
    const { policies: active } = await planJudgement(policies.within(store), requests);
    expect(reads.slice(9)).toEqual(["100 versions"]);
    expect(active.get(tenantIds[0] ?? "")?.guards).toHaveLength(1);
  });
});

describe("a comparison of policies", () => {
  it("is made once for the same two documents", async () => {
    const compiler = createPolicyCompiler({
      assets: { list: [], find: () => undefined },
      networks: new Set(),
      timeZones: createTimeZones(),
    } as never);
    const stored = (action: "allow" | "reject") => ({
      document: {
        rules: [],
        default: { action, ...(action === "allow" ? {} : { reason: "no" }) },
      } as PolicyDocument,
    });
    const [before, after] = [
      compiler.compileStored(stored("reject")),
      compiler.compileStored(stored("allow")),
    ];
    expect(compiler.compileStored(stored("reject"))).toBe(before);
    const { loosens } = createPolicyComparer();
    const comparing = loosens(before, after);
    expect(loosens(before, after)).toBe(comparing);
    expect(await comparing).toBe(true);
    expect(await loosens(after, before)).toBe(false);
  });
});
