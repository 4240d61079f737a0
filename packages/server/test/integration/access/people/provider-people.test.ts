import { builtInRoles, readId, type Scope } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { eventually } from "../../../harness/eventually.js";
import { callConsole, cookieOf, logInWith, registerWith, tokenOf } from "../../../harness/people/log-in.js";
import { type ProviderService, startProviderService } from "../../../harness/people/provider-service.js";

interface Shown {
  id: string;
  role: string;
  email: string;
  passkeys: unknown[];
  invitation: { url: string };
}

describe("a person whom an OpenID provider knows", () => {
  let started: ProviderService;
  let service: ProviderService["service"];
  let desk: { token: string };
  beforeAll(async () => {
    started = await startProviderService({ execs: "admin", approvers: "approver", staff: "viewer" });
    service = started.service;
    desk = await hire(["clients:manage", ...builtInRoles.viewer]);
  });
  afterAll(() => started?.stop());

  const hire = (scopes: readonly Scope[]) => service.createIndependentClient(started.owner, scopes);
  const logIn = async (email: string, group: string, sub?: string) => {
    const claims = { email, email_verified: true, name: "X", groups: [group] };
    const { status, code, body, cookie } = await started.logIn({
      ...claims,
      ...(sub === undefined ? {} : { sub }),
    });
    const { error } = body as { error?: { message: string } };
    return { status, code, cookie, person: body["person"] as Shown, message: error?.message };
  };
  const call = async (by: { token: string }, method: string, path: string, body?: object) => {
    const answer = await service.call(method, path, by.token, body);
    const read = (await answer.json()) as Shown & { error?: { code: string } };
    return { status: answer.status, body: read, code: read.error?.code };
  };
  const invite = async (by: { token: string }, email: string) => {
    const { status, body } = await call(by, "POST", "/v1/people", { email, name: "X", role: "viewer" });
    expect(status).toBe(201);
    return body;
  };
  const isOver = async (cookie: string) =>
    (await callConsole(service, "POST", "/token", undefined, cookieOf(cookie))).code === "SESSION_REQUIRED";

  it("cannot be prepared by a client that invites them: passkeys, sessions and tokens end at the login", async () => {
    const { id, invitation } = await invite(desk, "ceo@corp.example");
    const planted = await registerWith(service, invitation.url);
    const token = await tokenOf(service, planted.cookie);
    const { status, person, cookie } = await logIn("ceo@corp.example", "execs");
    expect([status, person.id, person.role]).toEqual([201, id, "admin"]);
    expect(await isOver(planted.cookie)).toBe(true);
    expect((await service.call("GET", "/v1/me", token)).status).toBe(401);
    expect((await logInWith(service, planted.authenticator)).code).toBe("PASSKEY_INVALID");
    // Its first token is not one of those that have ended.
    expect((await service.call("GET", "/v1/me", await tokenOf(service, cookie))).status).toBe(200);
    // Nobody but the operator has a part in the person now.
    const shown = await call({ token: await service.token(started.owner) }, "GET", `/v1/clients/${id}`);
    expect(shown.body).toMatchObject({ authority_changed_by: null, keys: [] });
  });

  it("cannot be prepared either if the provider gives the role of the invitation", async () => {
    const { invitation } = await invite(desk, "staff@corp.example");
    const planted = await registerWith(service, invitation.url);
    expect((await logIn("staff@corp.example", "staff")).status).toBe(201);
    expect(await isOver(planted.cookie)).toBe(true);
    expect((await logInWith(service, planted.authenticator)).code).toBe("PASSKEY_INVALID");
  });

  it("is not entered by a link from before, and the client that made it cannot make another", async () => {
    const admin = await hire(builtInRoles.admin);
    const { id, invitation } = await invite(admin, "cfo@corp.example");
    expect((await logIn("cfo@corp.example", "execs")).person.id).toBe(id);
    expect((await registerWith(service, invitation.url)).code).toBe("INVITATION_INVALID");
    const path = `/v1/people/${id}/invitation`;
    expect((await call(admin, "POST", path)).code).toBe("CHANGE_REQUEST_REQUIRED");
  });

  it("keeps a passkey that a client helped to, until the provider gives more than the person had", async () => {
    const { person } = await logIn("raised@corp.example", "staff");
    const { body } = await call(desk, "POST", `/v1/people/${person.id}/invitation`);
    const planted = await registerWith(service, body.invitation.url);
    expect((await logIn("raised@corp.example", "staff")).status).toBe(201);
    expect((await logInWith(service, planted.authenticator)).status).toBe(201);
    expect((await logIn("raised@corp.example", "approvers")).person.role).toBe("approver");
    expect(await isOver(planted.cookie)).toBe(true);
    expect((await logInWith(service, planted.authenticator)).code).toBe("PASSKEY_INVALID");
  });

  it("keeps the passkeys of an invitation of the operator", async () => {
    const link = await service.inviteAsOperator(started.owner, {
      ...{ email: "vouched@corp.example", name: "V", role: "viewer" },
    });
    const { authenticator } = await registerWith(service, link);
    expect((await logIn("vouched@corp.example", "execs")).person.role).toBe("admin");
    expect((await logInWith(service, authenticator)).status).toBe(201);
  });

  it("is refused if somebody else gets the same new address at that moment, and keeps the old one", async () => {
    const subs = ["twin-1", "twin-2"];
    for (const sub of subs) await logIn(`${sub}@corp.example`, "staff", sub);
    const tenant = sql`SELECT FROM tenants WHERE id = ${readId("tnt", started.owner.tenantId) ?? ""} FOR UPDATE`;
    const waits = sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    // Both have found the address free before either of them is changed.
    const logins = await service.database.transaction(async (tx) => {
      await tx.query(tenant);
      const begun = subs.map((sub) => logIn("twins@corp.example", "staff", sub));
      await eventually(
        () => service.database.query(waits),
        ({ length }) => length === 2,
      );
      return { begun };
    });
    const answers = await Promise.all(logins.begun);
    expect(answers.map(({ code }) => code).sort()).toEqual(["OIDC_REFUSED", undefined]);
    const loser = answers[0]?.status === 201 ? "twin-2" : "twin-1";
    expect((await logIn("twins@corp.example", "staff", loser)).person.email).toBe(`${loser}@corp.example`);
  });

  it("stays the same person with another address", async () => {
    const before = await logIn("hal@corp.example", "execs", "account-1");
    const after = await logIn("hal2@corp.example", "execs", "account-1");
    expect(after.person).toMatchObject({ id: before.person.id, email: "hal2@corp.example" });
    // An address that somebody else has is not taken from them.
    const other = await invite(desk, "taken@corp.example");
    const taken = await logIn("taken@corp.example", "execs", "account-1");
    expect(taken.person).toMatchObject({ id: before.person.id, email: "hal2@corp.example" });
    expect((await call(desk, "GET", `/v1/people/${other.id}`)).body.email).toBe("taken@corp.example");
    // The address from before is free for another person.
    const next = await logIn("hal@corp.example", "staff", "account-2");
    expect([next.status, next.person.id === before.person.id]).toEqual([201, false]);
  });

  it("is not another account that has the address now, unless the operator recovers the person", async () => {
    const { person, cookie } = await logIn("desk@corp.example", "execs", "account-3");
    const refused = await logIn("Desk@corp.example", "execs", "account-4");
    expect([refused.status, refused.code]).toEqual([403, "OIDC_REFUSED"]);
    expect(refused.message).toContain(`bursar people recover ${person.id}`);
    expect(await isOver(cookie)).toBe(false);
    await service.recoverAsOperator(started.owner, person.id);
    expect((await logIn("desk@corp.example", "execs", "account-4")).person.id).toBe(person.id);
    expect((await logIn("desk@corp.example", "execs", "account-3")).code).toBe("OIDC_REFUSED");
  });

  it.each([["a".repeat(256)], ["line\nbreak"], ["é"]])(
    "needs a subject as the standard has it: %j",
    async (sub) => {
      const claims = { email: "odd@corp.example", email_verified: true, groups: ["staff"] };
      expect((await started.logIn(claims, { claims: { sub } })).code).toBe("OIDC_REFUSED");
    },
  );
});
