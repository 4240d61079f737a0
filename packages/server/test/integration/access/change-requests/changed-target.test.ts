import { generateKeyPairSync } from "node:crypto";
import type { ChangeRequest } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

describe("a change request whose target changes itself before the approval", () => {
  let tenant: GuardedTenant;
  let officer: Person;
  let decider: Person;
  beforeEach(async () => {
    tenant = await createGuardedTenant(service);
    [officer, decider] = [await tenant.hire(), await tenant.hire(["clients:manage", "audit:read"])];
  });

  /** The administrator requests it, the officer makes itself another secret, and the independent client approves. */
  async function approveAfterOwnChange(change: object, kind = "client.change"): Promise<ChangeRequest> {
    const made = await tenant.call(tenant.admin, "POST", "/v1/change-requests", {
      kind,
      change: { client_id: officer.clientId, ...change },
    });
    expect(made.status).toBe(201);
    const { id, digest } = made.body as unknown as ChangeRequest;
    const own = { current_secret: officer.secret };
    expect(await tenant.call(officer, "POST", "/v1/me/secrets", own)).toMatchObject({ status: 201 });
    const answer = await tenant.call(decider, "POST", `/v1/change-requests/${id}/approve`, { digest });
    return answer.body as unknown as ChangeRequest;
  }

  const officerNow = async () =>
    (await tenant.call(tenant.admin, "GET", `/v1/clients/${officer.clientId}`)).body as { state?: string };

  it.each([
    ["disables it", { state: "disabled" }],
    ["takes scopes from it", { scopes: ["transactions:read"] }],
    ["requires its signature", { require_signature: true }],
  ])("is applied if it only %s: the client does not hold it up", async (_what, change) => {
    expect(await approveAfterOwnChange(change)).toMatchObject({ state: "applied" });
    expect(await officerNow()).toMatchObject(change);
  });

  it("fails if it gives something", async () => {
    const scopes = ["transactions:read", "transactions:approve", "wallets:read", "events:read"];
    expect(await approveAfterOwnChange({ scopes })).toMatchObject({
      state: "failed",
      failure_code: "CHANGE_REQUEST_STALE",
    });
    expect(await officerNow()).not.toMatchObject({ scopes });
    const failures = await tenant.call(tenant.admin, "GET", "/v1/audit?action=change_request.fail");
    expect(failures.body).toMatchObject({ data: [{ code: "CHANGE_REQUEST_STALE" }] });
  });

  it("fails if it adds a key", async () => {
    const public_key = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x;
    expect(await approveAfterOwnChange({ public_key }, "client.key.add")).toMatchObject({
      state: "failed",
      failure_code: "CHANGE_REQUEST_STALE",
    });
    expect(await officerNow()).toMatchObject({ keys: [] });
  });
});
