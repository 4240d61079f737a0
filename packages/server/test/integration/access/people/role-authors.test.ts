import { readId, type Transaction } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant } from "../../../harness/access/officers.js";
import { passkeyHeader } from "../../../harness/people/authenticator.js";
import { registerWith, tokenOf } from "../../../harness/people/log-in.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

describe("an approver whose role a client has written", () => {
  let tenant: GuardedTenant;
  beforeEach(async () => {
    tenant = await createGuardedTenant(service);
    // The operator has seen the first one.
    await write(["wallets:read", "transactions:read"]);
    expect((await tenant.call(tenant.admin, "DELETE", "/v1/roles/clerk")).status).toBe(204);
    await write(["wallets:read", "transactions:read", "transactions:approve"]);
  });

  const write = async (scopes: string[]) =>
    expect((await tenant.call(tenant.admin, "POST", "/v1/roles", { name: "clerk", scopes })).status).toBe(
      201,
    );
  const idOf = (link: string) => link.split("#invitation=")[1]?.split(".")[0] ?? "";
  const invite = async (role: string, email = "dan@treasury.example") => {
    const link = await service.inviteAsOperator(tenant.owner, { email, name: "Dan", role });
    return { id: idOf(link), ...(await registerWith(service, link)) };
  };
  type Dan = Awaited<ReturnType<typeof invite>>;
  const approve = async ({ cookie, authenticator }: Dan, { id, approval }: Transaction) => {
    const digest = approval?.digest ?? "";
    const act = { act: "transaction.approve", target: id, digest };
    const token = await tokenOf(service, cookie);
    const answer = await service.call(
      "POST",
      `/v1/transactions/${id}/approvals`,
      token,
      { decision: "approve", digest },
      { "bursar-passkey": passkeyHeader({ token, authenticator }, act) },
    );
    const { error } = (await answer.json()) as { error?: { code: string } };
    return [answer.status, error?.code];
  };
  const dependent = [403, "APPROVER_NOT_INDEPENDENT"];

  it("does not approve the payments of that client, also after a recovery by the operator", async () => {
    const payment = await tenant.pay(tenant.admin);
    expect(await approve(await invite("clerk"), payment)).toEqual(dependent);
    expect((await tenant.read(payment.id)).state).toBe("awaiting_approval");
    const changed = await invite("viewer", "eve@treasury.example");
    const answer = await tenant.call(tenant.admin, "PATCH", `/v1/people/${changed.id}`, { role: "clerk" });
    expect(answer.status).toBe(200);
    // The operator has replaced all credentials. The role is still the client's.
    const link = await service.recoverAsOperator(tenant.owner, changed.id);
    const recovered = { id: changed.id, ...(await registerWith(service, link)) };
    expect(await approve(recovered, await tenant.pay(tenant.admin))).toEqual(dependent);
  });

  it("approves the payments of others, and with a built-in role those of that client", async () => {
    const other = await tenant.hire(["transactions:write", "transactions:read"]);
    expect(await approve(await invite("clerk"), await tenant.pay(other))).toEqual([202, undefined]);
    const approver = await invite("approver", "ada@treasury.example");
    expect(await approve(approver, await tenant.pay(tenant.admin))).toEqual([202, undefined]);
  });

  it("is disabled if the client is removed from the row", async () => {
    const dan = await invite("clerk");
    await service.database.query(
      sql`UPDATE clients SET role_created_by = NULL WHERE id = ${readId("cli", dan.id)}`,
    );
    const shown = await tenant.call(tenant.admin, "GET", `/v1/people/${dan.id}`);
    expect(shown.body).toMatchObject({ state: "disabled" });
  });

  it("gets no link from that client", async () => {
    const link = await service.inviteAsOperator(tenant.owner, {
      ...{ email: "new@treasury.example", name: "New", role: "clerk" },
    });
    const recovered = await tenant.call(tenant.admin, "POST", `/v1/people/${idOf(link)}/invitation`);
    expect(recovered.code).toBe("CHANGE_REQUEST_REQUIRED");
  });
});
