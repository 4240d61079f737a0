import type { PolicyDocument } from "@bursar/domain";
import type { ChangeRequest, Scope } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
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
  it("is that of `changes`, also if these do not cover destinations", async () => {
    const delay_seconds = 7 * 86_400;
    const changes = { approvals: 1, destinations: false, delay_seconds };
    expect((await replace({ rules: [listed], default: reject, changes })).status).toBe(200);
    const address = `0x${"7".repeat(40)}`;
    const { status, body } = await send<{ created_at: string; effective_at: string }>(
      ...(["POST", "/v1/destinations", { label: "new", network: "eip155:1", address }] as const),
    );
    expect(status).toBe(201);
    expect(Date.parse(body.effective_at) - Date.parse(body.created_at)).toBe(delay_seconds * 1000);
  });

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

  it("is not evaded by closing an asset in one version and opening it in the next", async () => {
    const only = (asset: string): Rule => ({
      name: asset.toLowerCase(),
      when: { destinations: ["address"], assets: [asset] },
      action: "allow",
    });
    const policyOf = (...assets: string[]) => ({ rules: assets.map(only), default: reject });
    // USD is allowed for good. ETH is opened, which starts a waiting time; then USD is closed and opened within it.
    expect((await replace(policyOf("USD"))).status).toBe(200);
    await endWaitingTimes();
    expect(await verdictIn(0)).toBe("allow");
    expect((await replace(policyOf("USD", "ETH"))).status).toBe(200);
    expect((await replace(policyOf("ETH"))).status).toBe(200);
    expect((await replace(policyOf("ETH", "USD"))).status).toBe(200);
    expect(await verdictIn(0)).toBe("reject");
    expect(await verdictIn(2)).toBe("allow");
  });

  it("is not evaded by a version that tightens, between two that open", async () => {
    expect((await replace(closed)).status).toBe(200);
    expect((await replace(open)).status).toBe(200);
    // Stricter than the version before, but the address can still be paid by it: the guard of that version must stay.
    const amount = { asset: "USD", max: "10" };
    const small: Rule = { name: "small", when: { destinations: ["address"], amount }, action: "allow" };
    expect((await replace({ rules: [listed, small], default: reject })).status).toBe(200);
    expect(await verdictIn(0)).toBe("reject");
    expect((await replace(open)).status).toBe(200);
    expect(await verdictIn(0)).toBe("reject");
    expect(await verdictIn(2)).toBe("allow");
  });

  it("is not evaded by more versions than are remembered: then no address can be paid", async () => {
    const usd: Rule = { name: "usd", when: { destinations: ["address"], assets: ["USD"] }, action: "allow" };
    expect((await replace(closed)).status).toBe(200);
    // Each version opens something that the one before has closed, so none of them makes another superfluous.
    for (let count = 1; count <= 10; count++) {
      const amount = { asset: "ETH", min: String(count), max: String(count + 5) };
      const eth: Rule = { name: "eth", when: { destinations: ["address"], amount }, action: "allow" };
      expect((await replace({ rules: [usd, eth], default: reject })).status).toBe(200);
    }
    expect(await verdictIn(0)).toBe("reject");
    expect(await verdictIn(2)).toBe("allow");
  });
});

/** As if what was allowed until now had been allowed for long. */
async function endWaitingTimes(): Promise<void> {
  await service.database.query(sql`
    UPDATE policies SET guards = '[]' WHERE tenant_id = ${owner.client.tenantId}`);
  const current = (await (await service.call("GET", "/v1/policy", admin.token)).json()) as {
    document: PolicyDocument;
  };
  // A new version, because those in force are cached.
  await replace(current.document);
}

describe("`changes` that could not be met", () => {
  const bare: PolicyDocument = { rules: [listed], default: reject };
  const refusedAt = (path: string) => ({
    status: 422,
    body: { error: { code: "POLICY_INVALID", details: [{ path }] } },
  });
  const inForce = async () =>
    ((await (await service.call("GET", "/v1/policy", admin.token)).json()) as { version: number }).version;

  it("do not lock a tenant out: more approvals than it has independent approvers are refused", async () => {
    const asked = await replace({ ...bare, changes: { approvals: 10 } });
    expect(asked).toMatchObject(refusedAt("body.changes.approvals"));
    expect(await replace({ ...bare, changes: { approvals: 2 } })).toMatchObject({ status: 422 });
    expect(await inForce()).toBe(0);
    expect(await replace({ ...bare, changes: { approvals: 1 } })).toMatchObject({ status: 200 });
  });

  it("do not count clients that the caller made, nor disabled, unprotected or dependent ones", async () => {
    const create = async (scopes: Scope[]) => {
      const { body } = await send<{ id: string }>("POST", "/v1/clients", { name: "puppet", scopes });
      return body.id;
    };
    const puppets = [await create(["transactions:approve"]), await create(["policies:manage"])];
    const clerk = await service.createIndependentClient(owner, ["wallets:read"], "clerk");
    const away = await service.createIndependentClient(owner, ["transactions:approve"], "away");
    await service.changeAsOperator(away, { state: "disabled" });
    const from = { clients: [...puppets, clerk.clientId, away.clientId] };
    const refused = { status: 422 };
    expect(await replace({ ...bare, changes: { approvals: 1, from } })).toMatchObject(refused);
    const withOfficer = { clients: [...from.clients, officer.clientId] };
    expect(await replace({ ...bare, changes: { approvals: 2, from: withOfficer } })).toMatchObject(refused);
    expect(await replace({ ...bare, changes: { approvals: 1, from: withOfficer } })).toMatchObject({
      status: 200,
    });
  });

  it("are refused in a change request too, when it is made and when it is applied", async () => {
    const second = await service.createIndependentClient(owner, ["transactions:approve"], "second");
    expect((await replace({ ...bare, changes: { approvals: 1 } })).status).toBe(200);
    const change = (approvals: number) => ({
      kind: "policy.replace",
      change: { expected_version: 1, document: { ...bare, changes: { approvals } } },
    });
    expect(await send("POST", "/v1/change-requests", change(3))).toMatchObject(
      refusedAt("body.change.document.changes.approvals"),
    );
    const asked = await send<ChangeRequest>("POST", "/v1/change-requests", change(2));
    expect(asked.status).toBe(201);
    await service.changeAsOperator(second, { state: "disabled" });
    expect((await approve(asked.body)).body).toMatchObject({
      state: "failed",
      failure_code: "POLICY_INVALID",
    });
    expect(await inForce()).toBe(1);
  });

  it("stay in force, and let the rest of the policy be tightened, when an approver is missing", async () => {
    expect((await replace({ ...bare, changes: { approvals: 1 } })).status).toBe(200);
    await service.changeAsOperator(officer, { state: "disabled" });
    expect(await replace({ rules: [], default: reject, changes: { approvals: 1 } })).toMatchObject({
      status: 200,
    });
  });
});
