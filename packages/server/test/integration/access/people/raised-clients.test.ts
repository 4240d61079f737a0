import { builtInRoles } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { registerWith, tokenOf } from "../../../harness/people/log-in.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

/** The helpdesk manages clients and reads, and cannot pay. */
describe("a client that has given another one its credentials", () => {
  let tenant: GuardedTenant;
  let helpdesk: Person;
  beforeEach(async () => {
    tenant = await createGuardedTenant(service);
    helpdesk = await tenant.hire(["clients:manage", ...builtInRoles.viewer]);
  });

  const invite = async () => {
    const link = await service.inviteAsOperator(tenant.owner, {
      ...{ email: "dan@treasury.example", name: "Dan", role: "viewer" },
    });
    await registerWith(service, link);
    return link.split("#invitation=")[1]?.split(".")[0] ?? "";
  };
  /** The helpdesk keeps the link of the new invitation for itself. */
  const takeOver = async (id: string) => {
    const { status, body } = await tenant.call(helpdesk, "POST", `/v1/people/${id}/invitation`);
    expect(status).toBe(201);
    const { invitation } = body as unknown as { invitation: { url: string } };
    return (await registerWith(service, invitation.url)).cookie;
  };
  const raise = (id: string, role = "operator") =>
    tenant.call(tenant.admin, "PATCH", `/v1/people/${id}`, { role });
  const pays = async (token: string) => {
    const body = { reference: "r", asset: "USD", amount: "1" };
    const headers = { "idempotency-key": crypto.randomUUID() };
    return (await service.call("POST", "/v1/transactions", token, body, headers)).status;
  };
  const required = { status: 403, code: "CHANGE_REQUEST_REQUIRED" };

  it("does not get the scopes that a person gets after it has recovered them", async () => {
    const id = await invite();
    const cookie = await takeOver(id);
    expect(await pays(helpdesk.token)).toBe(403);
    const raised = await raise(id);
    expect([await pays(await tokenOf(service, cookie)), raised]).toMatchObject([403, required]);
    expect(raised.body).toMatchObject({
      error: { message: expect.stringContaining(helpdesk.clientId) },
    });
  });

  it("does not get them by a client that controls it, or that it has created", async () => {
    const made = await tenant.create(helpdesk, ["wallets:read"]);
    const patch = { scopes: ["wallets:read", "transactions:write"] };
    expect(await tenant.call(tenant.admin, "PATCH", `/v1/clients/${made.clientId}`, patch)).toMatchObject(
      required,
    );
    const manager = await tenant.create(helpdesk, ["clients:manage", "wallets:read"]);
    const later = await tenant.create(manager, ["wallets:read"]);
    expect(await tenant.call(tenant.admin, "PATCH", `/v1/clients/${later.clientId}`, patch)).toMatchObject(
      required,
    );
  });

  it("does not get them when a secret suffices again, or when the client is enabled", async () => {
    const made = await tenant.create(helpdesk, ["wallets:read"]);
    const patch = (change: object) =>
      tenant.call(tenant.admin, "PATCH", `/v1/clients/${made.clientId}`, change);
    expect(await patch({ require_signature: true })).toMatchObject({ status: 200 });
    await service.changeAsOperator(made, { scopes: ["wallets:read", "transactions:write"] });
    expect(await patch({ require_signature: false })).toMatchObject(required);
    expect(await patch({ state: "disabled" })).toMatchObject({ status: 200 });
    expect(await patch({ state: "active" })).toMatchObject(required);
    // What the helpdesk has itself, it may have by this client as well.
    expect(await patch({ scopes: ["wallets:read"] })).toMatchObject({ status: 200 });
    expect(await patch({ state: "active", require_signature: false })).toMatchObject({ status: 200 });
  });

  it("keeps nobody from getting what it has itself, or less", async () => {
    const made = await tenant.create(helpdesk, ["wallets:read", "orders:read"]);
    const patch = (scopes: string[]) =>
      tenant.call(tenant.admin, "PATCH", `/v1/clients/${made.clientId}`, { scopes });
    expect(await patch(["wallets:read"])).toMatchObject({ status: 200 });
    expect(await patch(["wallets:read", "transactions:read"])).toMatchObject({ status: 200 });
    // One that was disabled is to get nothing any more.
    await service.changeAsOperator(helpdesk, { state: "disabled" });
    expect(await patch(["wallets:read", "orders:read"])).toMatchObject(required);
  });

  it("has no part in it after an approved change request, or after a recovery by the operator", async () => {
    const id = await invite();
    await takeOver(id);
    const officer = await tenant.hire();
    const change = { client_id: id, role: "operator" };
    const requested = await tenant.call(tenant.admin, "POST", "/v1/change-requests", {
      kind: "client.change",
      change,
    });
    const { digest } = requested.body as unknown as { digest: string };
    const path = `/v1/change-requests/${requested.body.id}/approve`;
    expect(await tenant.call(officer, "POST", path, { digest })).toMatchObject({
      body: { state: "applied" },
    });
    const other = await tenant.call(tenant.admin, "POST", "/v1/people", {
      ...{ email: "eve@treasury.example", name: "Eve", role: "viewer" },
    });
    await takeOver(other.body.id);
    await service.recoverAsOperator(tenant.owner, other.body.id);
    expect(await raise(other.body.id)).toMatchObject({ status: 200 });
  });

  describe("in a change request of the administrator", () => {
    let officer: Person;
    beforeEach(async () => {
      officer = await tenant.hire();
    });

    const request = async (change: object) => {
      const body = { kind: "client.change", change };
      const { body: requested } = await tenant.call(tenant.admin, "POST", "/v1/change-requests", body);
      const { id, digest } = requested as unknown as { id: string; digest: string };
      return (who: Person) => tenant.call(who, "POST", `/v1/change-requests/${id}/approve`, { digest });
    };
    const notIndependent = { status: 403, code: "APPROVER_NOT_INDEPENDENT" };
    const applied = { status: 200, body: { state: "applied" } };

    it("does not approve that a client which it has created gets what it lacks", async () => {
      const made = await tenant.create(helpdesk, ["wallets:read"]);
      const decide = await request({
        client_id: made.clientId,
        scopes: ["wallets:read", "transactions:write"],
      });
      expect(await decide(helpdesk)).toMatchObject(notIndependent);
      expect(await pays(made.token)).toBe(403);
      // Nor does a client that it controls.
      const other = await tenant.create(helpdesk, ["clients:manage", "wallets:read"]);
      const again = await request({
        client_id: made.clientId,
        scopes: ["wallets:read", "transactions:write"],
      });
      expect(await again(other)).toMatchObject(notIndependent);
      expect(await decide(officer)).toMatchObject(applied);
    });

    it("does not approve that a person whom it has invited gets another role", async () => {
      const id = await invite();
      await takeOver(id);
      const decide = await request({ client_id: id, role: "operator" });
      expect(await decide(helpdesk)).toMatchObject(notIndependent);
      expect(await decide(officer)).toMatchObject(applied);
    });

    it("approves what it has itself, and that a client gets less", async () => {
      const made = await tenant.create(helpdesk, ["wallets:read"]);
      const same = await request({ client_id: made.clientId, scopes: ["wallets:read", "orders:read"] });
      expect(await same(helpdesk)).toMatchObject(applied);
      const less = await request({ client_id: made.clientId, scopes: ["wallets:read"] });
      expect(await less(helpdesk)).toMatchObject(applied);
    });

    it("does not end the operator's stop of a client that it has created", async () => {
      const made = await tenant.create(helpdesk, ["wallets:read"]);
      const raised = await request({ client_id: made.clientId, scopes: ["transactions:write"] });
      expect(await raised(officer)).toMatchObject(applied);
      await service.changeAsOperator(made, { state: "disabled" });
      const decide = await request({ client_id: made.clientId, state: "active" });
      expect(await decide(helpdesk)).toMatchObject(notIndependent);
      expect(await decide(officer)).toMatchObject(applied);
    });

    it("does not approve what it gets itself", async () => {
      const scopes = ["transactions:approve", "transactions:read", "transactions:write"];
      const decide = await request({ client_id: officer.clientId, scopes });
      expect(await decide(officer)).toMatchObject(notIndependent);
      expect(await decide(helpdesk)).toMatchObject(applied);
    });
  });
});
