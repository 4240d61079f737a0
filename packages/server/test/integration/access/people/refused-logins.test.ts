import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import { createAuthenticator } from "../../../harness/people/authenticator.js";
import { callConsole, registerWith } from "../../../harness/people/log-in.js";
import { type ProviderService, startProviderService } from "../../../harness/people/provider-service.js";

interface Entry {
  actor: string;
  action: string;
  object: string | null;
  outcome: string;
  code: string | null;
  request_id: string | null;
  address: string | null;
  repeated: number;
}

describe("the audit log of a tenant", () => {
  let started: ProviderService;
  beforeAll(async () => {
    started = await startProviderService({ treasury: "operator" });
  });
  afterAll(() => started?.stop());

  const claims = { email: "boss@treasury.example", email_verified: true, name: "Ada", groups: ["treasury"] };
  const entries = async () => {
    const { service, owner } = started;
    const answer = await service.call("GET", "/v1/audit?limit=100", await service.token(owner));
    return ((await answer.json()) as { data: Entry[] }).data;
  };
  const find = (isWanted: (entry: Entry) => boolean) =>
    eventually(
      async () => (await entries()).find(isWanted),
      (entry) => entry !== undefined,
      10_000,
    );

  it("names the login that has created a person, not the operator", async () => {
    const { status, body } = await started.logIn({ ...claims, sub: "first" });
    expect(status).toBe(201);
    const { id } = body["person"] as { id: string };
    expect(await find(({ object }) => object === id)).toMatchObject({
      ...{ action: "person.invite", actor: "service", address: expect.any(String) },
      request_id: expect.any(String),
    });
  });

  it("has the login of another account with somebody's address", async () => {
    expect((await started.logIn({ ...claims, sub: "second" })).code).toBe("OIDC_REFUSED");
    expect(await find(({ code }) => code === "OIDC_REFUSED")).toMatchObject({
      ...{ action: "session.open", actor: "anonymous", outcome: "refused", address: expect.any(String) },
    });
  });

  it("has a link that was opened, a passkey that was refused, the second use of a link, and a login as somebody with the passkey of another person", async () => {
    const { service, owner } = started;
    const invite = (email: string) =>
      service.inviteAsOperator(owner, { email, name: "Grace", role: "viewer" });
    const link = await invite("grace@treasury.example");
    const forged = await registerWith(service, link, createAuthenticator("http://elsewhere.example"));
    expect(forged.code).toBe("PASSKEY_INVALID");
    expect(await find(({ action }) => action === "passkey.register")).toMatchObject({
      ...{ actor: "anonymous", outcome: "refused", code: "PASSKEY_INVALID", address: expect.any(String) },
      object: expect.stringMatching(/^cli_/),
    });
    expect(await find(({ action }) => action === "invitation.open")).toMatchObject({
      ...{ actor: "anonymous", outcome: "succeeded", address: expect.any(String) },
      object: expect.stringMatching(/^cli_/),
    });
    const grace = await registerWith(service, link);
    const mallory = await registerWith(service, await invite("mallory@treasury.example"));
    expect([grace.status, mallory.status]).toEqual([201, 201]);
    expect((await registerWith(service, link)).code).toBe("INVITATION_INVALID");
    const { id } = grace.body["person"] as { id: string };
    const attempt = { actor: "anonymous", object: id, outcome: "refused", address: expect.any(String) };
    expect(await find(({ code }) => code === "INVITATION_INVALID")).toMatchObject({
      ...{ action: "invitation.use", ...attempt },
    });
    const { body } = await callConsole(service, "POST", "/challenge");
    const assertion = mallory.authenticator.assert(body["challenge"] as string);
    const given = { user_handle: grace.authenticator.userHandle(), ...assertion };
    expect((await callConsole(service, "POST", "", given)).code).toBe("PASSKEY_INVALID");
    expect(await find(({ action, object }) => action === "session.open" && object === id)).toMatchObject({
      ...{ code: "PASSKEY_INVALID", ...attempt },
    });
  });
});
