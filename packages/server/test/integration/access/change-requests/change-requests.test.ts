import { generateKeyPairSync } from "node:crypto";
import type { ChangeRequest, Scope } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { type Statement, sql } from "../../../../src/store/core/sql.js";
import { alterChangeRequest } from "../../../harness/access/alter-change-requests.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

describe("a change request", () => {
  let tenant: GuardedTenant;
  let officer: Person;
  /** A protected client that is independent of the administrator. */
  let decider: Person;
  beforeEach(async () => {
    tenant = await createGuardedTenant(service);
    [officer, decider] = [await tenant.hire(), await tenant.hire(["clients:manage", "audit:read"])];
  });

  const request = async (change: object, by = tenant.admin, kind = "client.change") => {
    const answer = await tenant.call(by, "POST", "/v1/change-requests", { kind, change });
    return { ...answer, body: answer.body as unknown as ChangeRequest };
  };
  const disable = async () => (await request({ client_id: officer.clientId, state: "disabled" })).body;
  const decide = async (
    who: Person,
    { id, digest }: Pick<ChangeRequest, "id" | "digest">,
    decision = "approve",
  ) => {
    const answer = await tenant.call(who, "POST", `/v1/change-requests/${id}/${decision}`, { digest });
    return { ...answer, body: answer.body as unknown as ChangeRequest };
  };
  const alter = ({ id }: Pick<ChangeRequest, "id">, to: Statement) =>
    alterChangeRequest(service, tenant.owner.tenantId, id, to);
  const stateOf = async (id: string) =>
    ((await tenant.call(decider, "GET", `/v1/change-requests/${id}`)).body as unknown as ChangeRequest).state;
  const officerNow = async () =>
    (await tenant.call(tenant.admin, "GET", `/v1/clients/${officer.clientId}`)).body as unknown as {
      state: string;
      scopes: Scope[];
      keys: { id: string; added_by: string; created_at: string }[];
      secrets: { id: string; created_at: string }[];
      authority_changed_by: string;
    };

  it("changes a protected client when an independent client approves it", async () => {
    const made = await disable();
    expect(made).toMatchObject({ state: "pending", required: 1, requested_by: tenant.admin.clientId });
    expect((await officerNow()).state).toBe("active");
    expect(await decide(decider, made)).toMatchObject({
      status: 200,
      body: { state: "applied", decisions: [{ client_id: decider.clientId, decision: "approve" }] },
    });
    expect(await officerNow()).toMatchObject({
      state: "disabled",
      authority_changed_by: tenant.admin.clientId,
    });
  });

  it("adds and removes a key and removes a secret, but carries no secret", async () => {
    const public_key = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x;
    const key = await request({ client_id: officer.clientId, public_key }, tenant.admin, "client.key.add");
    expect((await decide(decider, key.body)).body.state).toBe("applied");
    const [added] = (await officerNow()).keys;
    expect(added?.added_by).toBe(tenant.admin.clientId);
    const removal = { client_id: officer.clientId, key_id: added?.id };
    const removed = await request(removal, tenant.admin, "client.key.remove");
    expect(removed.body.change).toEqual({
      ...removal,
      ...{ public_key, created_at: added?.created_at, last_used_at: null },
    });
    expect((await decide(decider, removed.body)).body.state).toBe("applied");
    const [secret] = (await officerNow()).secrets;
    const secretRemoval = { client_id: officer.clientId, secret_id: secret?.id };
    const withoutSecret = await request(secretRemoval, tenant.admin, "client.secret.remove");
    expect(withoutSecret.body.change).toMatchObject({ ...secretRemoval, created_at: secret?.created_at });
    const forged = { ...secretRemoval, created_at: "2020-01-01T00:00:00.000Z" };
    expect(await request(forged, tenant.admin, "client.secret.remove")).toMatchObject({ status: 400 });
    expect((await decide(decider, withoutSecret.body)).body.state).toBe("applied");
    expect(await officerNow()).toMatchObject({ keys: [], secrets: [] });
    expect(await request({ client_id: officer.clientId }, tenant.admin, "client.secret.add")).toMatchObject({
      status: 400,
    });
  });

  it("that adds a key makes the client depend on the requester, which may have its private half", async () => {
    const public_key = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x;
    const { body } = await request(
      { client_id: officer.clientId, public_key },
      tenant.admin,
      "client.key.add",
    );
    await decide(decider, body);
    expect(await tenant.approve(officer, await tenant.pay(tenant.admin))).toMatchObject({
      status: 403,
      code: "APPROVER_NOT_INDEPENDENT",
    });
  });

  it("can be made by a client for itself without clients:manage, for a key only with proof of a credential", async () => {
    const public_key = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x;
    const change = { client_id: officer.clientId, public_key };
    const ask = async (proof: object) => {
      const body = { kind: "client.key.add", change, ...proof };
      const answer = await tenant.call(officer, "POST", "/v1/change-requests", body);
      return { ...answer, body: answer.body as unknown as ChangeRequest };
    };
    // A stolen token and an insider who approves would otherwise make a key that lasts.
    const unproven = { status: 403, code: "CREDENTIAL_PROOF_REQUIRED" };
    expect(await ask({})).toMatchObject(unproven);
    expect(await ask({ current_secret: `${officer.secret}x` })).toMatchObject(unproven);
    expect(await ask({ current_secret: decider.secret })).toMatchObject(unproven);
    const { body } = await ask({ current_secret: officer.secret });
    expect(JSON.stringify(body)).not.toContain(officer.secret);
    expect((await decide(decider, body)).body.state).toBe("applied");
    const beyond = { client_id: officer.clientId, scopes: ["clients:manage", "transactions:approve"] };
    expect(await request(beyond, officer)).toMatchObject({ status: 403, code: "INSUFFICIENT_SCOPE" });
    const other = { client_id: decider.clientId, state: "disabled" };
    expect(await request(other, officer)).toMatchObject({ status: 403, code: "INSUFFICIENT_SCOPE" });
  });

  it("is not approved by its requester", async () =>
    expect(await decide(tenant.admin, await disable())).toMatchObject({
      status: 403,
      code: "POLICY_REJECTED",
    }));

  it("is not approved by a client that its requester created, even through another one", async () => {
    const manager = await tenant.create(tenant.admin, ["clients:manage", "transactions:approve"]);
    const made = await tenant.create(manager, ["transactions:approve"]);
    const change = await disable();
    for (const who of [manager, made])
      expect(await decide(who, change)).toMatchObject({ status: 403, code: "APPROVER_NOT_INDEPENDENT" });
    expect(await stateOf(change.id)).toBe("pending");
  });

  it("is not approved by a client that was created or changed after it", async () => {
    const change = await disable();
    const late = await tenant.hire(["clients:manage"]);
    expect(await decide(late, change)).toMatchObject({ status: 403, code: "APPROVER_NOT_INDEPENDENT" });
    await service.changeAsOperator(decider, { scopes: ["clients:manage"] });
    expect(await decide(await tenant.login(decider), change)).toMatchObject({
      status: 403,
      code: "APPROVER_NOT_INDEPENDENT",
    });
  });

  it("is neither seen nor approved by a client that is not protected", async () => {
    const clerk = await tenant.hire(["transactions:read", "events:read", "audit:read"]);
    const change = await disable();
    expect(await decide(clerk, change)).toMatchObject({ status: 403, code: "INSUFFICIENT_SCOPE" });
    expect(await tenant.call(clerk, "GET", `/v1/change-requests/${change.id}`)).toMatchObject({
      status: 403,
    });
  });

  it("is unknown to another tenant", async () => {
    const change = await disable();
    const stranger = await createGuardedTenant(service);
    for (const decision of ["approve", "reject"])
      expect(await decide(stranger.admin, change, decision)).toMatchObject({
        status: 404,
        code: "CHANGE_REQUEST_NOT_FOUND",
      });
    expect(
      await tenant.call(stranger.admin, "POST", `/v1/change-requests/${change.id}/cancel`),
    ).toMatchObject({
      status: 404,
    });
  });

  it("is applied once", async () => {
    const change = await disable();
    expect((await decide(decider, change)).body.state).toBe("applied");
    await service.changeAsOperator(officer, { state: "active" });
    expect(await decide(decider, change)).toMatchObject({ status: 409, code: "CHANGE_REQUEST_CLOSED" });
    expect((await officerNow()).state).toBe("active");
  });

  it("is applied once if two clients approve it at the same time", async () => {
    const [change, other] = [await disable(), await tenant.hire(["clients:manage"])];
    const late = await request({ client_id: officer.clientId, require_signature: true });
    expect(late.status).toBe(201);
    const answers = await Promise.all([
      decide(decider, change),
      decide(decider, change),
      decide(other, change),
    ]);
    expect(answers.filter(({ body }) => body.state === "applied")).toHaveLength(1);
  });

  it("needs the digest of what is approved", async () => {
    const change = await disable();
    expect(await decide(decider, { id: change.id, digest: "0".repeat(64) })).toMatchObject({
      status: 409,
      code: "CHANGE_REQUEST_STALE",
    });
    await eventually(
      () => tenant.call(decider, "GET", `/v1/audit?outcome=refused&object=${change.id}`),
      ({ body }) => JSON.stringify(body).includes('"CHANGE_REQUEST_STALE"'),
    );
    const other = await request({ client_id: officer.clientId, scopes: ["transactions:read"] });
    expect(await decide(decider, { id: change.id, digest: other.body.digest })).toMatchObject({
      status: 409,
    });
  });

  it("fails if its requester has lost its scopes since", async () => {
    const manager = await tenant.hire(["clients:manage", "transactions:approve", "transactions:read"]);
    const change = await request({ client_id: officer.clientId, state: "disabled" }, manager);
    await service.changeAsOperator(manager, { scopes: ["transactions:read"] });
    expect((await decide(decider, change.body)).body).toMatchObject({
      state: "failed",
      failure_code: "INSUFFICIENT_SCOPE",
    });
  });

  it("ends with one rejection, even of a dependent client, or when its requester cancels it", async () => {
    const rejected = await disable();
    expect((await decide(decider, rejected, "reject")).body.state).toBe("rejected");
    expect(await decide(decider, rejected)).toMatchObject({ status: 409 });
    const cancelled = await disable();
    const path = `/v1/change-requests/${cancelled.id}/cancel`;
    expect(await tenant.call(decider, "POST", path)).toMatchObject({ status: 403 });
    expect(await tenant.call(tenant.admin, "POST", path)).toMatchObject({ status: 200 });
    expect(await decide(decider, cancelled)).toMatchObject({ status: 409, code: "CHANGE_REQUEST_CLOSED" });
  });

  it("expires", async () => {
    const change = await disable();
    const past = new Date(Date.now() - 1000);
    await alter(
      change,
      sql`expires_at = ${past}, requirement = jsonb_set(requirement, '{expiresAfterSeconds}', '0')`,
    );
    expect(await decide(decider, change)).toMatchObject({ status: 409, code: "CHANGE_REQUEST_CLOSED" });
    await eventually(
      () => stateOf(change.id),
      (state) => state === "expired",
    );
  });

  it("takes effect after its delay, unless it is rejected until then", async () => {
    const [change, stopped] = [await disable(), await disable()];
    for (const one of [change, stopped])
      await alter(one, sql`requirement = jsonb_set(requirement, '{delaySeconds}', '3600')`);
    expect((await decide(decider, change)).body.state).toBe("scheduled");
    expect((await decide(decider, stopped)).body.state).toBe("scheduled");
    expect((await officerNow()).state).toBe("active");
    const other = await tenant.hire(["clients:manage"]);
    expect((await decide(other, stopped, "reject")).body.state).toBe("rejected");
    await alter(change, sql`effective_at = ${new Date()}`);
    await eventually(
      () => stateOf(change.id),
      (state) => state === "applied",
    );
    expect((await officerNow()).state).toBe("disabled");
  });

  it("is repeated by its idempotency key, listed, audited and in the event log", async () => {
    const body = { kind: "client.change", change: { client_id: officer.clientId, state: "disabled" } };
    const send = () =>
      service.call("POST", "/v1/change-requests", tenant.admin.token, body, { "idempotency-key": "once" });
    const first = (await (await send()).json()) as ChangeRequest;
    expect(await (await send()).json()).toMatchObject({ id: first.id });
    await decide(decider, first);
    const listed = await tenant.call(decider, "GET", "/v1/change-requests?state=applied");
    expect(listed.body).toMatchObject({ data: [{ id: first.id }] });
    const { body: audit } = await tenant.call(decider, "GET", "/v1/audit");
    // Tokens are recorded a moment after they were issued.
    const entries = (audit as unknown as { data: { action: string; client_id: string }[] }).data.filter(
      ({ action }) => action !== "token.issue",
    );
    expect(entries.map(({ action, client_id }) => [action, client_id]).slice(0, 4)).toEqual([
      ["change_request.apply", tenant.admin.clientId],
      ["client.change", tenant.admin.clientId],
      ["change_request.approve", decider.clientId],
      ["change_request.create", tenant.admin.clientId],
    ]);
    const { body: log } = await tenant.call(tenant.admin, "GET", "/v1/events");
    const events = (log as unknown as { data: { event: string; data: object }[] }).data;
    expect(
      events.filter(({ event }) => event === "change_request.updated").map(({ data }) => data),
    ).toMatchObject([
      { previous_state: "none", change_request: { id: first.id, state: "pending", version: 1 } },
      { previous_state: "pending", change_request: { state: "pending", version: 2 } },
      { previous_state: "pending", change_request: { state: "applied", version: 3 } },
    ]);
  });
});
