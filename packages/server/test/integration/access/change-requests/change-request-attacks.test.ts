import { generateKeyPairSync } from "node:crypto";
import type { PolicyDocument } from "@bursar/domain";
import { type ChangeRequest, readId, type Scope } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectTamperedService } from "../../../harness/service/shared-service.js";

const service = await inspectTamperedService();

let tenant: GuardedTenant;
let officer: Person;
let decider: Person;
beforeEach(async () => {
  tenant = await createGuardedTenant(service);
  [officer, decider] = [
    await tenant.hire(),
    await tenant.hire(["clients:manage", "transactions:approve", "transactions:read"]),
  ];
});

/** A key for oneself needs proof of a credential, which these clients have. */
const request = async (by: Person, change: object, kind = "client.change") => {
  const isOwnKey = kind === "client.key.add" && (change as { client_id?: string }).client_id === by.clientId;
  const proof = isOwnKey ? { current_secret: by.secret } : {};
  const answer = await tenant.call(by, "POST", "/v1/change-requests", { kind, change, ...proof });
  return { ...answer, body: answer.body as unknown as ChangeRequest };
};
const decide = async (who: Person, { id, digest }: ChangeRequest, decision: "approve" | "reject") => {
  const answer = await tenant.call(who, "POST", `/v1/change-requests/${id}/${decision}`, { digest });
  return { ...answer, body: answer.body as unknown as ChangeRequest };
};
const readChange = async (id: string) =>
  (await tenant.call(tenant.admin, "GET", `/v1/change-requests/${id}`)).body as unknown as ChangeRequest;
const clientNow = async ({ clientId }: Person) =>
  (await tenant.call(tenant.admin, "GET", `/v1/clients/${clientId}`)).body as unknown as {
    state: string;
    scopes: Scope[];
    keys: object[];
  };
const newPublicKey = () => generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x as string;

describe("a writer to the database", () => {
  const insert = async (kind: string, change: object, requirement: object) => {
    const [row] = await service.database.query<{ id: string }>(sql`
      INSERT INTO change_requests (tenant_id, id, kind, target, change, requirement, state, version, requested_by, created_at,
        expires_at, effective_at, updated_at)
      VALUES (${readId("tnt", tenant.owner.tenantId)}, gen_random_uuid(), ${kind}, ${officer.clientId},
        ${JSON.stringify(change)}::jsonb, ${JSON.stringify(requirement)}::jsonb, 'scheduled', 1,
        ${readId("cli", tenant.admin.clientId)}, now(), now() + interval '1 day', now(), now())
      RETURNING id::text`);
    return row?.id ?? "";
  };
  const stateOf = async (id: string) => {
    const rows = await service.database.query<{ state: string; failureCode: string }>(sql`
      SELECT state, failure_code AS "failureCode" FROM change_requests WHERE id = ${id}`);
    return rows[0];
  };
  const closes = (id: string) =>
    eventually(
      () => stateOf(id),
      (found) => found?.state !== "scheduled" && found?.state !== "pending",
    );
  const noApproval = { approvals: 0, clientIds: null, delaySeconds: 0, expiresAfterSeconds: 100 };

  it("cannot become an officer by inserting a change request that adds a key, with its approval", async () => {
    const change = { client_id: officer.clientId, public_key: newPublicKey() };
    const id = await insert("client.key.add", change, { ...noApproval, approvals: 1 });
    await service.database.query(sql`
      INSERT INTO change_decisions (tenant_id, change_request_id, version, client_id, decision, decided_at)
      VALUES (${readId("tnt", tenant.owner.tenantId)}, ${id}, 2, ${readId("cli", decider.clientId)}, 'approve', now())`);
    expect(await closes(id)).toEqual({ state: "failed", failureCode: "CHANGE_REQUEST_TAMPERED" });
    expect((await clientNow(officer)).keys).toEqual([]);
  });

  it("cannot give a client scopes by inserting a change request that needs no approval", async () => {
    const scopes: Scope[] = [
      "clients:manage",
      "policies:manage",
      "transactions:approve",
      "transactions:read",
    ];
    const id = await insert("client.change", { client_id: officer.clientId, scopes }, noApproval);
    expect(await closes(id)).toMatchObject({ state: "failed" });
    expect((await clientNow(officer)).scopes).toEqual(["transactions:approve", "transactions:read"]);
  });

  it.each([
    ["its change", sql`change = jsonb_set(change, '{scopes}', '[]')`],
    ["the approvals that it needs", sql`requirement = jsonb_set(requirement, '{approvals}', '0')`],
    ["its state", sql`state = 'scheduled', effective_at = now()`],
    ["its requester", sql`requested_by = ${readId("cli", "cli_01h455vb4pex5vsknk084sn02q")}`],
  ])("cannot change %s", async (_what, change) => {
    const { body } = await request(tenant.admin, { client_id: officer.clientId, state: "disabled" });
    await service.database.query(
      sql`UPDATE change_requests SET ${change} WHERE id = ${readId("chr", body.id)}`,
    );
    await decide(decider, await readChange(body.id), "approve");
    expect(await closes(readId("chr", body.id) ?? "")).toMatchObject({
      state: "failed",
      failureCode: "CHANGE_REQUEST_TAMPERED",
    });
    expect((await clientNow(officer)).state).toBe("active");
  });

  it("cannot have a decision shown that nobody has made", async () => {
    const auditor = await tenant.hire(["audit:read"]);
    const { body } = await request(tenant.admin, { client_id: officer.clientId, state: "disabled" });
    await service.database.query(sql`
      INSERT INTO change_decisions (tenant_id, change_request_id, version, client_id, decision, decided_at)
      VALUES (${readId("tnt", tenant.owner.tenantId)}, ${readId("chr", body.id)}, 2, ${readId("cli", decider.clientId)}, 'approve', now())`);
    const isHidden = async (state: string) => {
      expect(await readChange(body.id)).toMatchObject({ state, decisions: [] });
      const listed = (await tenant.call(tenant.admin, "GET", "/v1/change-requests")).body;
      expect(listed).toMatchObject({ data: [{ id: body.id, decisions: [] }] });
      const evidence = await tenant.call(auditor, "GET", `/v1/change-requests/${body.id}/decisions`);
      expect(evidence).toMatchObject({ status: 409, code: "CHANGE_REQUEST_TAMPERED" });
    };
    await isHidden("pending");
    await decide(decider, body, "approve");
    await isHidden("failed");
  });

  it("cannot opt a tenant out, to change its officers", async () => {
    await service.database.query(sql`
      UPDATE tenants SET single_administrator = true WHERE id = ${readId("tnt", tenant.owner.tenantId)}`);
    const path = `/v1/clients/${officer.clientId}/secrets`;
    expect(await tenant.call(tenant.admin, "POST", path, {})).toMatchObject({
      code: "CHANGE_REQUEST_REQUIRED",
    });
    const made = await tenant.create(tenant.admin);
    expect(await tenant.approve(made, await tenant.pay(tenant.admin))).toMatchObject({
      code: "APPROVER_NOT_INDEPENDENT",
    });
    expect((await tenant.call(tenant.admin, "GET", "/v1/me")).body).toMatchObject({
      tenant: { single_administrator: false },
    });
  });

  it("cannot record an approval without the signature that the policy requires", async () => {
    const guarded = await createGuardedTenant(service);
    const signed = { rules: [], default: { action: "require_approval", approvals: 1, signed: true } };
    await service.database.query(sql`
      UPDATE policies SET document = ${JSON.stringify(signed satisfies object as PolicyDocument)}::jsonb
      WHERE tenant_id = ${readId("tnt", guarded.owner.tenantId)}`);
    const approver = await guarded.hire();
    const payment = await guarded.pay(guarded.admin);
    await service.database.query(sql`
      WITH open AS (
        UPDATE open_transactions SET version = version + 1, due_at = '-infinity' WHERE id = ${readId("tx", payment.id)}
        RETURNING tenant_id, id, version)
      INSERT INTO approvals (tenant_id, transaction_id, version, client_id, decision, decided_at)
      SELECT tenant_id, id, version, ${readId("cli", approver.clientId)}, 'approve', now() FROM open`);
    await guarded.tallied(payment);
    expect(await guarded.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
  });
});

describe("a client that floods a tenant with change requests", () => {
  const limit = { status: 409, code: "CHANGE_REQUEST_LIMIT_REACHED" };
  const ofItself = (who: Person) => ({ client_id: who.clientId, public_key: newPublicKey() });
  const disableAdmin = () => request(decider, { client_id: officer.clientId, state: "disabled" });

  it("gets room for ten, also if it sends them at once, and leaves room for the others", async () => {
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => request(officer, ofItself(officer), "client.key.add")),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.find(({ status }) => status !== 201)).toMatchObject(limit);
    expect((await disableAdmin()).status).toBe(201);
  });

  it("gets room for twenty through the clients that it creates", async () => {
    const puppets = await Promise.all([1, 2, 3].map(() => tenant.create(tenant.admin)));
    const statuses: number[] = [];
    for (const puppet of puppets)
      for (let count = 0; count < 10; count++)
        statuses.push((await request(puppet, ofItself(puppet), "client.key.add")).status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect((await disableAdmin()).status).toBe(201);
    // Nor can its clients keep it from requesting something itself.
    expect((await request(tenant.admin, { client_id: officer.clientId, state: "disabled" })).status).toBe(
      201,
    );
  });

  it("cannot request what changes nothing", async () => {
    const same = [
      { client_id: officer.clientId, state: "active" },
      { client_id: officer.clientId, scopes: ["transactions:read", "transactions:approve"] },
      { client_id: officer.clientId, require_signature: false, state: "active" },
    ];
    for (const change of same)
      expect(await request(officer, change)).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
    const public_key = newPublicKey();
    await service.addKeyAsOperator(officer, public_key);
    const again = { client_id: officer.clientId, public_key };
    expect((await request(officer, again, "client.key.add")).status).toBe(400);
    const unknown = { destination_id: "dst_01h455vb4pex5vsknk084sn02q" };
    expect((await request(tenant.admin, unknown, "destination.remove")).status).toBe(404);
    const destination = { label: "mine", network: "eip155:1", address: `0x${"6".repeat(40)}` };
    expect((await tenant.call(tenant.admin, "POST", "/v1/destinations", destination)).status).toBe(201);
    expect((await request(tenant.admin, destination, "destination.create")).status).toBe(409);
  });
});

describe("a client that is to be disabled", () => {
  it("cannot reject that, nor can the clients that it has created", async () => {
    const puppet = await tenant.create(tenant.admin);
    const boss = await service.createIndependentClient(tenant.owner, tenant.owner.client.scopes, "boss");
    const { body } = await request(boss, { client_id: tenant.admin.clientId, state: "disabled" });
    for (const who of [tenant.admin, puppet])
      expect(await decide(who, body, "reject")).toMatchObject({ code: "APPROVER_NOT_INDEPENDENT" });
    expect((await decide(decider, body, "approve")).body).toMatchObject({ state: "applied" });
    expect(
      await service.database.query(sql`
      SELECT state FROM clients WHERE id = ${readId("cli", tenant.admin.clientId)}`),
    ).toEqual([{ state: "disabled" }]);
  });

  it("is protected from others by a rejection of an independent client", async () => {
    const { body } = await request(tenant.admin, { client_id: officer.clientId, state: "disabled" });
    expect((await decide(decider, body, "reject")).body).toMatchObject({ state: "rejected" });
  });

  it("can reject a key that others want to give it", async () => {
    const change = { client_id: officer.clientId, public_key: newPublicKey() };
    const { body } = await request(tenant.admin, change, "client.key.add");
    expect((await decide(officer, body, "reject")).body).toMatchObject({ state: "rejected" });
  });

  it("loses its waiting transactions if the change request says so", async () => {
    const payer = await tenant.hire(["transactions:write", "transactions:read", "transactions:approve"]);
    const payment = await tenant.pay(payer);
    const change = { client_id: payer.clientId, state: "disabled", cancel: ["transactions"] };
    const early = { client_id: payer.clientId, require_signature: true, cancel: ["transactions"] };
    expect((await request(tenant.admin, early)).status).toBe(400);
    const { body } = await request(tenant.admin, change);
    expect((await decide(decider, body, "approve")).body).toMatchObject({ state: "applied" });
    await eventually(
      () => tenant.read(payment.id),
      ({ state }) => state === "cancelled",
    );
  });
});
