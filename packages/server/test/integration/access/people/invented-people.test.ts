import { builtInRoles, readId, type Transaction } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { passkeyHeader } from "../../../harness/people/authenticator.js";
import { registerWith, tokenOf } from "../../../harness/people/log-in.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

/** A program that manages clients and approves, in a tenant whose policy asks for people. */
describe("a person whom a program has invited", () => {
  let tenant: GuardedTenant;
  let program: Person;
  let payment: Transaction;
  beforeEach(async () => {
    tenant = await createGuardedTenant(service);
    const policy = { rules: [], default: { action: "require_approval", approvals: 1, people: true } };
    const headers = { "if-match": '"1"' };
    const put = await service.call("PUT", "/v1/policy", tenant.admin.token, policy, headers);
    expect(put.status).toBe(200);
    program = await tenant.hire(["clients:manage", "transactions:approve", "transactions:read"]);
  });

  const join = async (link: string) => {
    const { cookie, authenticator } = await registerWith(service, link);
    return { token: await tokenOf(service, cookie), authenticator };
  };
  type Joined = Awaited<ReturnType<typeof join>>;
  const approve = async ({ token, authenticator }: Joined) => {
    const digest = payment.approval?.digest ?? "";
    const header = passkeyHeader(
      { token, authenticator },
      { act: "transaction.approve", target: payment.id, digest },
    );
    const path = `/v1/transactions/${payment.id}/approvals`;
    const body = { decision: "approve", digest };
    const answer = await service.call("POST", path, token, body, { "bursar-passkey": header });
    return { status: answer.status, text: await answer.text() };
  };
  const invent = async () => {
    const scopes = ["transactions:approve", "transactions:read"];
    const role = await tenant.call(program, "POST", "/v1/roles", { name: "signer", scopes });
    expect(role.status).toBe(201);
    const invited = await tenant.call(program, "POST", "/v1/people", {
      ...{ email: "bot@treasury.example", name: "Definitely Human", role: "signer" },
    });
    const { id, invitation } = invited.body as unknown as { id: string; invitation: { url: string } };
    return { id, person: await join(invitation.url) };
  };
  const inviteAsOperator = (email: string) =>
    service.inviteAsOperator(tenant.owner, { email, name: "Ada", role: "approver" });

  it("is no person to a rule that asks for people, unless the operator has recovered them", async () => {
    const { id, person } = await invent();
    payment = await tenant.pay(tenant.admin);
    expect(await approve(person)).toMatchObject({
      status: 403,
      text: expect.stringMatching(/POLICY_REJECTED.*a program could act as this person/),
    });
    const recovered = await join(await service.recoverAsOperator(tenant.owner, id));
    payment = await tenant.pay(tenant.admin);
    expect(await approve(recovered)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
  });

  it("does not keep those of the operator from approving", async () => {
    const ada = await join(await inviteAsOperator("ada@treasury.example"));
    payment = await tenant.pay(tenant.admin);
    expect(await approve(ada)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
  });

  it("counts if the tenant has a single administrator", async () => {
    const { person } = await invent();
    await service.setSingleAdministrator(tenant.owner, true);
    payment = await tenant.pay(tenant.admin);
    expect(await approve(person)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
  });

  it("is not made so by a program that only disables a person", async () => {
    const link = await service.inviteAsOperator(tenant.owner, {
      email: "viewer@treasury.example",
      name: "Vera",
      role: "viewer",
    });
    const { token } = await join(link);
    const { client } = (await (await service.call("GET", "/v1/me", token)).json()) as {
      client: { id: string };
    };
    const readActors = async () =>
      (
        await service.database.query<{ controllers: string[]; by: string | null }>(
          sql`SELECT controllers, authority_changed_by AS by FROM clients WHERE id = ${readId("cli", client.id)}`,
        )
      )[0];
    const before = await readActors();
    const manager = await tenant.hire(["clients:manage", ...builtInRoles.viewer]);
    const path = `/v1/people/${client.id}`;
    expect((await tenant.call(manager, "PATCH", path, { state: "disabled" })).status).toBe(200);
    const after = await readActors();
    expect(after?.controllers).toEqual(before?.controllers);
    expect(after?.by).toBe(readId("cli", manager.clientId));
  });
});
