import { builtInRoles } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registerWith } from "../../../harness/people/log-in.js";
import { type ProviderService, startProviderService } from "../../../harness/people/provider-service.js";

const scopes = ["clients:manage", ...builtInRoles.viewer, "transactions:approve"] as const;

describe("a protected person with an account of the provider", () => {
  let started: ProviderService;
  let service: ProviderService["service"];
  beforeAll(async () => {
    started = await startProviderService({ approvers: "approver" });
    service = started.service;
  });
  afterAll(() => started?.stop());

  const logIn = async (name: string) => {
    const claims = {
      email: `${name}@corp.example`,
      email_verified: true,
      name,
      groups: ["approvers"],
      sub: name,
    };
    return (await started.logIn(claims)).body["person"] as { id: string };
  };
  const invite = async (id: string, token: string) => {
    const answer = await service.call("POST", `/v1/people/${id}/invitation`, token);
    const body = (await answer.json()) as { invitation?: { url: string }; error?: { code: string } };
    return { status: answer.status, code: body.error?.code, link: body.invitation?.url ?? "" };
  };
  const approve = async (kind: string, change: object, by: string) => {
    const approver = await service.createIndependentClient(started.owner, scopes);
    const made = await service.call("POST", "/v1/change-requests", by, { kind, change });
    const { id, digest } = (await made.json()) as { id: string; digest: string };
    const path = `/v1/change-requests/${id}/approve`;
    const decided = await service.call("POST", path, approver.token, { digest });
    expect(await decided.json()).toMatchObject({ state: "applied" });
  };

  it("gets a passkey by the link of the client whose recovery was approved, and of no other", async () => {
    const requester = await service.createIndependentClient(started.owner, scopes);
    const other = await service.createIndependentClient(started.owner, scopes);
    const { id } = await logIn("grace");
    expect((await invite(id, requester.token)).code).toBe("CHANGE_REQUEST_REQUIRED");
    await approve("client.change", { client_id: id, state: "disabled" }, requester.token);
    await approve("client.change", { client_id: id, state: "active" }, requester.token);
    expect((await invite(id, requester.token)).code).toBe("CHANGE_REQUEST_REQUIRED");
    await approve("person.recover", { client_id: id }, requester.token);
    expect((await invite(id, other.token)).code).toBe("CHANGE_REQUEST_REQUIRED");
    const { status, link } = await invite(id, requester.token);
    expect(status).toBe(201);
    expect((await registerWith(service, link)).status).toBe(201);
    // The account is still that of the person, and a new link needs a new approval.
    expect((await logIn("grace")).id).toBe(id);
    expect((await invite(id, requester.token)).code).toBe("CHANGE_REQUEST_REQUIRED");
  });

  it("gets no further link without another approval after a login with the provider", async () => {
    const requester = await service.createIndependentClient(started.owner, scopes);
    const { id } = await logIn("heidi");
    await approve("person.recover", { client_id: id }, requester.token);
    expect((await invite(id, requester.token)).status).toBe(201);
    expect((await logIn("heidi")).id).toBe(id);
    expect((await invite(id, requester.token)).code).toBe("CHANGE_REQUEST_REQUIRED");
  });

  it("gets no link of the client that had invited it before its first login there", async () => {
    const inviter = await service.createIndependentClient(started.owner, scopes);
    const body = { email: "judy@corp.example", name: "Judy", role: "approver" };
    const made = await service.call("POST", "/v1/people", inviter.token, body);
    const { id } = (await made.json()) as { id: string };
    expect((await invite(id, inviter.token)).status).toBe(201);
    expect((await logIn("judy")).id).toBe(id);
    expect((await invite(id, inviter.token)).code).toBe("CHANGE_REQUEST_REQUIRED");
    // Not after other changes that were approved for it either.
    for (const state of ["disabled", "active"])
      await approve("client.change", { client_id: id, state }, inviter.token);
    expect((await invite(id, inviter.token)).code).toBe("CHANGE_REQUEST_REQUIRED");
  });
});
