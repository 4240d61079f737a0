import type { PolicyDocument } from "@bursar/domain";
import type { ChangeRequest, Policy, Scope } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { alterChangeRequest } from "../../harness/access/alter-change-requests.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import type { TestClient } from "../../harness/service/test-service.js";

const service = await inspectSharedService();

type Keeper = TestClient & { token: string };
const keeps: Scope[] = ["policies:read", "policies:manage", "destinations:manage"];
const allowAll: PolicyDocument = { rules: [], default: { action: "allow" } };
const closed: PolicyDocument = { rules: [], default: { action: "reject", reason: "Closed." } };

describe("a policy that names who approves its changes", () => {
  let owner: TestClient;
  let anna: Keeper;
  let ben: Keeper;
  let policy: PolicyDocument;
  let version: number;
  beforeEach(async () => {
    owner = await service.createTenant("1000");
    anna = await service.createIndependentClient(owner, keeps, "anna");
    ben = await service.createIndependentClient(owner, keeps, "ben");
    await usePolicy({});
  });

  const usePolicy = async (more: object) => {
    const changes = { approvals: 1, from: { clients: [anna.clientId, ben.clientId] }, ...more };
    policy = { ...closed, changes };
    const [row] = await service.database.query<{ version: number }>(sql`
      INSERT INTO policies (tenant_id, version, document, client_id, created_at)
      SELECT ${owner.client.tenantId}, coalesce(max(version), 0) + 1, ${JSON.stringify(policy)}::jsonb, ${owner.client.id}, now()
      FROM policies WHERE tenant_id = ${owner.client.tenantId} RETURNING version
    `);
    version = row?.version ?? 0;
  };
  const send = async <Body>(who: Keeper, method: string, path: string, body?: unknown, ifMatch?: string) => {
    const headers = ifMatch === undefined ? {} : { "if-match": ifMatch };
    const response = await service.call(method, path, who.token, body, headers);
    const text = await response.text();
    return {
      status: response.status,
      body: (text === "" ? {} : JSON.parse(text)) as Body & { error?: { code: string; message: string } },
    };
  };
  const replace = (who: Keeper, document: object) =>
    send<ChangeRequest>(who, "PUT", "/v1/policy", document, `"${version}"`);
  const decide = (who: Keeper, { id, digest }: ChangeRequest, decision = "approve") =>
    send<ChangeRequest>(who, "POST", `/v1/change-requests/${id}/${decision}`, { digest });
  const inForce = async () => (await send<Policy>(anna, "GET", "/v1/policy")).body;
  const readChange = async (id: string) =>
    (await send<ChangeRequest>(anna, "GET", `/v1/change-requests/${id}`)).body;

  it("is not replaced with one that allows everything by one credential", async () => {
    const asked = await replace(anna, { ...allowAll, changes: policy.changes });
    expect(asked).toMatchObject({
      status: 202,
      body: { kind: "policy.replace", state: "pending", required: 1 },
    });
    expect(await inForce()).toMatchObject({ version, document: policy });
    expect((await decide(ben, asked.body)).body).toMatchObject({ state: "applied" });
    expect(await inForce()).toMatchObject({
      version: version + 1,
      document: { default: { action: "allow" } },
    });
  });

  it("does not let a client approve its own change", async () => {
    const { body } = await replace(anna, allowAll);
    expect(await decide(anna, body)).toMatchObject({
      status: 403,
      body: { error: { code: "POLICY_REJECTED" } },
    });
    expect((await inForce()).version).toBe(version);
  });

  it("does not let a client that it does not name approve", async () => {
    const carl = await service.createIndependentClient(owner, [...keeps, "transactions:approve"], "carl");
    const { body } = await replace(anna, allowAll);
    expect((await decide(carl, body)).status).toBe(403);
    expect((await inForce()).version).toBe(version);
  });

  it.each([
    ["without them", () => closed],
    [
      "with one approver less",
      () => ({ ...closed, changes: { approvals: 1, from: { clients: [ben.clientId] } } }),
    ],
    ["for destinations alone", () => ({ ...closed, changes: { ...policy.changes, policy: false } })],
  ])("is not replaced by one credential with one %s", async (_what, document) => {
    expect(await replace(anna, document())).toMatchObject({ status: 202, body: { state: "pending" } });
    expect(await inForce()).toMatchObject({ version, document: policy });
  });

  it("is not replaced by one with the requester as the only approver", async () => {
    const own = { approvals: 1, from: { clients: [anna.clientId] } };
    expect((await replace(anna, { ...closed, changes: own })).status).toBe(422);
    expect(await inForce()).toMatchObject({ version, document: policy });
  });

  it("takes a scheduled change, although more than a page of others that are due cannot be processed", async () => {
    await usePolicy({ delay_seconds: 600 });
    const asked = await replace(anna, { ...allowAll, changes: policy.changes });
    await decide(ben, asked.body);
    const tenantId = owner.client.tenantId;
    // Older ones of the same tenant, which the database refuses to change.
    await service.database.run(`
      CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
      CREATE TRIGGER refuse_change BEFORE UPDATE ON change_requests FOR EACH ROW WHEN (OLD.comment = 'refused')
        EXECUTE FUNCTION refuse_change();
      INSERT INTO change_requests (tenant_id, id, kind, target, change, comment, requirement, state, version, requested_by, created_at,
          expires_at, effective_at, updated_at, key_id, mac)
        SELECT tenant_id, uuidv7(), kind, target, change, 'refused', requirement, state, version, requested_by, created_at,
          expires_at, now() - interval '1 day', updated_at, key_id, mac
        FROM change_requests, generate_series(1, 25) WHERE tenant_id = '${tenantId}'`);
    try {
      await alterChangeRequest(service, owner.tenantId, asked.body.id, sql`effective_at = now()`);
      const applied = await eventually(
        () => readChange(asked.body.id),
        ({ state }) => state !== "scheduled",
      );
      expect(applied.state).toBe("applied");
    } finally {
      await service.database.run(`
        DELETE FROM change_requests WHERE comment = 'refused'; DROP FUNCTION refuse_change CASCADE`);
    }
  });

  it("is tightened at once", async () => {
    await service.database.query(sql`DELETE FROM policies WHERE tenant_id = ${owner.client.tenantId}`);
    const { changes } = policy;
    const open = { ...allowAll, changes };
    await service.database.query(sql`
      INSERT INTO policies (tenant_id, version, document, client_id, created_at)
      VALUES (${owner.client.tenantId}, 1, ${JSON.stringify(open)}::jsonb, ${owner.client.id}, now())
    `);
    version = 1;
    expect(await replace(anna, { ...closed, changes })).toMatchObject({ status: 200, body: { version: 2 } });
  });

  it("is loosened after its delay, once, by however many processes", async () => {
    await usePolicy({ delay_seconds: 3600 });
    const { body } = await replace(anna, { ...allowAll, changes: policy.changes });
    const approved = (await decide(ben, body)).body;
    expect(approved).toMatchObject({ state: "scheduled", delay_seconds: 3600 });
    expect(Date.parse(approved.effective_at ?? "") - Date.now()).toBeGreaterThan(3_500_000);
    expect((await inForce()).version).toBe(version);
    const other = await service.another();
    try {
      const past = new Date(Date.now() - 1000);
      await alterChangeRequest(service, owner.tenantId, body.id, sql`effective_at = ${past}`);
      await eventually(
        () => readChange(body.id),
        ({ state }) => state === "applied",
      );
      expect((await inForce()).version).toBe(version + 1);
      expect((await decide(ben, body)).body.error?.code).toBe("CHANGE_REQUEST_CLOSED");
      expect((await inForce()).version).toBe(version + 1);
    } finally {
      await other.stop();
    }
  });

  it("is not replaced by a request for a version that is no longer in force", async () => {
    const first = (await replace(anna, allowAll)).body;
    const second = (await replace(anna, { ...allowAll, changes: policy.changes })).body;
    expect((await decide(ben, second)).body).toMatchObject({ state: "applied" });
    expect((await decide(ben, first)).body).toMatchObject({
      state: "failed",
      failure_code: "PRECONDITION_FAILED",
    });
  });

  it("holds new and removed destinations to the same approval", async () => {
    const destination = { label: "mine", network: "eip155:1", address: `0x${"3".repeat(40)}` };
    const asked = await send<ChangeRequest>(anna, "POST", "/v1/destinations", destination);
    expect(asked).toMatchObject({ status: 202, body: { kind: "destination.create", state: "pending" } });
    const list = async () =>
      (await send<{ data: { id: string }[] }>(anna, "GET", "/v1/destinations")).body.data;
    expect(await list()).toEqual([]);
    expect((await decide(anna, asked.body)).status).toBe(403);
    expect((await decide(ben, asked.body)).body).toMatchObject({ state: "applied" });
    const [added] = await list();
    const removal = await send<ChangeRequest>(anna, "DELETE", `/v1/destinations/${added?.id}`);
    expect(removal).toMatchObject({ status: 202, body: { kind: "destination.remove" } });
    expect(await list()).toHaveLength(1);
    expect((await decide(ben, removal.body)).body).toMatchObject({ state: "applied" });
    expect(await list()).toEqual([]);
    const auditor = await service.createIndependentClient(owner, ["audit:read"], "auditor");
    const named = `${destination.network}/${destination.address}`;
    const log = `/v1/audit?object=${added?.id}`;
    const { data } = (await send<{ data: { action: string; objects: string[] }[] }>(auditor, "GET", log))
      .body;
    expect(data.map(({ action, objects }) => [action, objects])).toEqual([
      ["destination.remove", [added?.id, named]],
      ["destination.create", [added?.id, named]],
    ]);
  });
});

describe("a policy that names nobody", () => {
  const listedOnly: PolicyDocument = {
    rules: [{ name: "listed", when: { destinations: ["listed_address"] }, action: "allow" }],
    default: { action: "reject", reason: "Not listed." },
  };
  const destination = { network: "eip155:1", address: `0x${"4".repeat(40)}` };
  let token: string;
  beforeEach(async () => {
    token = await service.token(await service.createTenant());
  });
  const replace = async (document: object, version: number) =>
    (await service.call("PUT", "/v1/policy", token, document, { "if-match": `"${version}"` })).status;
  const verdictAt = async (at?: string) => {
    const transaction = { reference: "r", asset: "USD", amount: "1", destination };
    const answer = await service.call("POST", "/v1/policy/evaluate", token, {
      transaction,
      ...(at === undefined ? {} : { at }),
    });
    return ((await answer.json()) as { action: string }).action;
  };
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

  it("does not let a client list its own address and pay it at once by allowing every address", async () => {
    expect(await replace(listedOnly, 0)).toBe(200);
    const added = await service.call("POST", "/v1/destinations", token, { label: "mine", ...destination });
    expect(await added.json()).toMatchObject({ state: "waiting" });
    expect(await replace(allowAll, 1)).toBe(200);
    expect(await verdictAt()).toBe("reject");
    // Replacing it again does not make the version before forgotten.
    expect(await replace({ ...allowAll, default: { action: "allow" } }, 2)).toBe(200);
    expect(await replace(allowAll, 3)).toBe(200);
    expect(await verdictAt()).toBe("reject");
    expect(await verdictAt(inDays(2))).toBe("allow");
  });

  it("is tightened for every address at once", async () => {
    expect(await replace(allowAll, 0)).toBe(200);
    expect(await replace(listedOnly, 1)).toBe(200);
    expect(await verdictAt(inDays(2))).toBe("reject");
  });
});
