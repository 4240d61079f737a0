import type { PolicyDocument } from "@bursar/domain";
import type { ChangeRequest, Scope } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import type { TestClient } from "../../harness/service/test-service.js";

const service = await inspectSharedService();

const reject = { action: "reject", reason: "No." } as const;
type Rule = PolicyDocument["rules"][number];
const listed: Rule = { name: "listed", when: { destinations: ["listed_address"] }, action: "allow" };
const anyAddress: Rule = { name: "any", when: { destinations: ["address"] }, action: "allow" };
const smallOrders: Rule = {
  name: "orders",
  when: { kind: "order", amount: { asset: "USD", max: "10" } },
  action: "allow",
};
const keeps: Scope[] = ["policies:read", "policies:manage", "transactions:approve"];

let owner: TestClient;
let admin: { token: string };
let officer: TestClient & { token: string };
beforeEach(async () => {
  owner = await service.createTenant("1000");
  admin = { token: await service.token(owner) };
  officer = await service.createIndependentClient(owner, keeps, "officer");
});

async function send<Body>(method: string, path: string, body: unknown, who = admin, headers = {}) {
  const response = await service.call(method, path, who.token, body, headers);
  return {
    status: response.status,
    body: (await response.json()) as Body & { error?: { code: string } },
  };
}

async function replace(document: PolicyDocument, who = admin) {
  const response = await service.call("GET", "/v1/policy", who.token);
  await response.body?.cancel();
  const headers = { "if-match": response.headers.get("etag") ?? "" };
  return await send<ChangeRequest>("PUT", "/v1/policy", document, who, headers);
}

const approve = ({ id, digest }: ChangeRequest) =>
  send<ChangeRequest>("POST", `/v1/change-requests/${id}/approve`, { digest }, officer);

describe("a client that a policy names", () => {
  let payroll: TestClient;
  let named: PolicyDocument;
  const unnamed: PolicyDocument = { rules: [], default: reject };
  beforeEach(async () => {
    payroll = await service.createIndependentClient(owner, ["transactions:write"], "payroll");
    const rule: Rule = { name: "payroll", when: { clients: [payroll.clientId] }, action: "allow" };
    named = { rules: [rule], default: reject };
  });
  const addSecret = async () => (await send("POST", `/v1/clients/${payroll.clientId}/secrets`, {})).status;

  it("is still protected after a version that no longer names it, and after many", async () => {
    expect((await replace(named)).status).toBe(200);
    expect(await addSecret()).toBe(403);
    expect((await replace(unnamed)).status).toBe(200);
    expect(await addSecret()).toBe(403);
    expect((await replace({ ...unnamed, rules: [listed] })).status).toBe(200);
    expect((await replace(unnamed)).status).toBe(200);
    expect(await addSecret()).toBe(403);
  });

  it("is not protected if no version ever named it", async () => {
    expect((await replace(unnamed)).status).toBe(200);
    expect(await addSecret()).toBe(201);
  });

  it("is dropped from the policy only with the approval that loosening needs", async () => {
    const changes = { approvals: 1 };
    expect((await replace({ ...named, changes })).status).toBe(200);
    const asked = await replace({ ...unnamed, changes });
    expect(asked).toMatchObject({ status: 202, body: { state: "pending" } });
    expect((await approve(asked.body)).body).toMatchObject({ state: "applied" });
    expect(await addSecret()).toBe(403);
  });

  it("is dropped from a group that no rule uses only with that approval", async () => {
    const changes = { approvals: 1 };
    const groups = { staff: [payroll.clientId, officer.clientId] };
    expect((await replace({ ...unnamed, groups, changes })).status).toBe(200);
    const fewer = { staff: [officer.clientId] };
    expect((await replace({ ...unnamed, groups: fewer, changes })).status).toBe(202);
  });
});

describe("`changes` that cover destinations alone", () => {
  const changes = { approvals: 1, policy: false, destinations: true, delay_seconds: 3600 };
  const policy: PolicyDocument = { rules: [listed], default: reject, changes };

  it.each([
    ["removed", undefined],
    ["moved to the policy", { ...changes, policy: true, destinations: false }],
    ["shortened", { ...changes, delay_seconds: 0 }],
    ["extended to the policy", { ...changes, policy: true }],
  ])("are not %s by one credential, nor without their delay", async (_what, next) => {
    expect((await replace(policy)).status).toBe(200);
    const { changes: _removed, ...bare } = policy;
    const asked = await replace(next === undefined ? bare : { ...policy, changes: next });
    expect(asked).toMatchObject({ status: 202, body: { state: "pending", required: 1 } });
    expect((await approve(asked.body)).body).toMatchObject({ state: "scheduled", delay_seconds: 3600 });
  });

  it("let one credential loosen the rest of the policy", async () => {
    expect((await replace(policy)).status).toBe(200);
    expect((await replace({ ...policy, rules: [listed, smallOrders] })).status).toBe(200);
  });
});

describe("the waiting time of newly allowed addresses", () => {
  const closed: PolicyDocument = { rules: [listed], default: reject };
  const open: PolicyDocument = { rules: [listed, anyAddress], default: reject };
  const verdictIn = async (days: number) => {
    const destination = { network: "eip155:1", address: `0x${"5".repeat(40)}` };
    const { body } = await send<{ action: string }>("POST", "/v1/policy/evaluate", {
      transaction: { reference: "r", asset: "USD", amount: "1", destination },
      at: new Date(Date.now() + days * 86_400_000).toISOString(),
    });
    return body.action;
  };

  it("is not ended by an approved change of something else", async () => {
    const changes = { approvals: 1 };
    expect((await replace(closed)).status).toBe(200);
    expect((await replace(open)).status).toBe(200);
    expect((await replace({ ...open, changes })).status).toBe(200);
    const asked = await replace({ ...open, rules: [...open.rules, smallOrders], changes });
    expect((await approve(asked.body)).body).toMatchObject({ state: "applied" });
    expect(await verdictIn(0)).toBe("reject");
    expect(await verdictIn(2)).toBe("allow");
  });

  it("lasts as long as the delay of `changes`, and later versions do not shorten it", async () => {
    const changes = { approvals: 1, policy: false, delay_seconds: 7 * 86_400 };
    expect((await replace({ ...closed, changes })).status).toBe(200);
    expect((await replace({ ...open, changes })).status).toBe(200);
    expect(await verdictIn(2)).toBe("reject");
    expect((await replace({ ...open, rules: [...open.rules, smallOrders], changes })).status).toBe(200);
    expect(await verdictIn(2)).toBe("reject");
    expect(await verdictIn(8)).toBe("allow");
  });

  it("does not apply to addresses that an approved change allows", async () => {
    const changes = { approvals: 1 };
    expect((await replace({ ...closed, changes })).status).toBe(200);
    const asked = await replace({ ...open, changes });
    expect((await approve(asked.body)).body).toMatchObject({ state: "applied" });
    expect(await verdictIn(0)).toBe("allow");
  });
});
