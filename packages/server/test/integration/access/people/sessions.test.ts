import { randomUUID } from "node:crypto";
import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { describeAct } from "../../../../src/app/audit/audit-entry.js";
import type { Session } from "../../../../src/app/people/session.js";
import { createSessionStore } from "../../../../src/store/access/people/sessions.js";
import { sql } from "../../../../src/store/core/sql.js";
import { eventually } from "../../../harness/eventually.js";
import { createAuthenticator } from "../../../harness/people/authenticator.js";
import {
  callConsole,
  consoleOriginOf,
  cookieOf,
  logInWith,
  registerWith,
  tokenOf,
} from "../../../harness/people/log-in.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

describe("sessions of people", () => {
  let owner: TestClient;
  let token: string;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
  });

  const invite = async (role = "viewer") => {
    const body = { email: `${role}@treasury.example`, name: "Ada", role };
    const answer = await service.call("POST", "/v1/people", token, body);
    return (await answer.json()) as { id: string; invitation: { url: string } };
  };
  const register = async (role?: string) => {
    const person = await invite(role);
    return { ...(await registerWith(service, person.invitation.url)), person };
  };

  it("begin with an invitation, which is used up by the first passkey", async () => {
    const { id, invitation } = await invite();
    const { status, cookie, body } = await registerWith(service, invitation.url);
    expect(status).toBe(201);
    expect(body["person"]).toMatchObject({ id, state: "active", invitation_expires_at: null });
    expect(cookie).toMatch(/^__Host-bursar-session=[^;]+; Path=\/; Secure; HttpOnly; SameSite=Strict$/);
    expect((await registerWith(service, invitation.url)).code).toBe("INVITATION_INVALID");
    const me = await service.call("GET", "/v1/me", await tokenOf(service, cookie));
    expect(await me.json()).toMatchObject({ client: { id } });
  });

  it("register one passkey for two uses of a link at once", async () => {
    const { invitation } = await invite();
    const answers = await Promise.all([1, 2, 3].map(() => registerWith(service, invitation.url)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
  });

  it.each([
    ["another origin", { origin: "https://evil.example" }],
    ["another rpId", { rpId: "evil.example" }],
    ["no user verification", { isUserVerified: false }],
    ["another type", { type: "webauthn.get" }],
  ])("register no passkey with %s", async (_name, faults) => {
    const { invitation } = await invite();
    expect(
      (await registerWith(service, invitation.url, createAuthenticator(consoleOriginOf(service)), faults))
        .code,
    ).toBe("PASSKEY_INVALID");
  });

  it("are opened with a passkey, each time a new one", async () => {
    const { authenticator, cookie } = await register();
    const again = await logInWith(service, authenticator);
    expect(again.status).toBe(201);
    expect(again.cookie).not.toBe(cookie);
    expect((await callConsole(service, "POST", "", again.given)).code).toBe("PASSKEY_INVALID");
  });

  it.each([
    ["another origin", { origin: "https://evil.example" }],
    ["another rpId", { rpId: "evil.example" }],
    ["no user verification", { isUserVerified: false }],
  ])("are not opened with %s", async (_name, faults) => {
    const { authenticator } = await register();
    expect((await logInWith(service, authenticator, faults)).code).toBe("PASSKEY_INVALID");
  });

  it("are not opened with a counter that does not grow", async () => {
    const { authenticator } = await register();
    expect((await logInWith(service, authenticator, { counter: 7 })).status).toBe(201);
    expect((await logInWith(service, authenticator, { counter: 7 })).code).toBe("PASSKEY_INVALID");
    expect((await logInWith(service, authenticator, { counter: 8 })).status).toBe(201);
  });

  it("are not opened as somebody else, nor by somebody unknown", async () => {
    const { authenticator } = await register();
    const { authenticator: other } = await register("auditor");
    const { body } = await callConsole(service, "POST", "/challenge");
    const assertion = authenticator.assert(body["challenge"] as string);
    for (const user_handle of [other.userHandle(), "AZ0PYQrAfoaapMPD7KuOoQ", "AA"])
      expect((await callConsole(service, "POST", "", { user_handle, ...assertion })).code).toBe(
        "PASSKEY_INVALID",
      );
  });

  it("are used only by pages of the service, and by nothing under /v1", async () => {
    const { cookie } = await register();
    const headers = cookieOf(cookie);
    const foreign = await callConsole(service, "POST", "/token", undefined, {
      ...headers,
      origin: "https://evil.example",
    });
    expect(foreign.code).toBe("ORIGIN_REFUSED");
    const bare = await fetch(`${service.url}/console/session/token`, { method: "POST", headers });
    expect(bare.status).toBe(403);
    const end = await fetch(`${service.url}/console/session`, { method: "DELETE", headers });
    expect(end.status).toBe(403);
    for (const path of ["/v1/me", "/v1/wallets", "/v1/people", "/v1/me/sessions"])
      expect((await service.call("GET", path, undefined, undefined, headers)).status).toBe(401);
    expect((await callConsole(service, "POST", "/token", undefined, headers)).status).toBe(200);
  });

  it("end with their owner, with all their tokens", async () => {
    const { cookie } = await register();
    const access = await tokenOf(service, cookie);
    const listed = await service.call("GET", "/v1/me/sessions", access);
    expect(((await listed.json()) as { data: unknown[] }).data.length).toBe(1);
    expect((await callConsole(service, "DELETE", "", undefined, cookieOf(cookie))).status).toBe(204);
    expect((await callConsole(service, "POST", "/token", undefined, cookieOf(cookie))).code).toBe(
      "SESSION_REQUIRED",
    );
    const gone = await service.call("GET", "/v1/me", access);
    expect([gone.status, await gone.json()]).toMatchObject([401, { error: { code: "TOKEN_REVOKED" } }]);
  });

  it("are ended by an administrator, by disabling the person, and by a recovery", async () => {
    const { cookie, person } = await register();
    const path = `/v1/people/${person.id}`;
    const access = await tokenOf(service, cookie);
    expect((await service.call("DELETE", `${path}/sessions`, token)).status).toBe(204);
    await eventually(
      async () => (await service.call("GET", "/v1/me", access)).status,
      (status) => status === 401,
    );
    const second = await register("auditor");
    await service.call("PATCH", `/v1/people/${second.person.id}`, token, { state: "disabled" });
    expect((await callConsole(service, "POST", "/token", undefined, cookieOf(second.cookie))).code).toBe(
      "SESSION_REQUIRED",
    );
    expect((await logInWith(service, second.authenticator)).code).toBe("PASSKEY_INVALID");
    const third = await register("operator");
    const recovered = await service.call("POST", `/v1/people/${third.person.id}/invitation`, token);
    expect(recovered.status).toBe(201);
    expect((await callConsole(service, "POST", "/token", undefined, cookieOf(third.cookie))).code).toBe(
      "SESSION_REQUIRED",
    );
    expect((await logInWith(service, third.authenticator)).code).toBe("PASSKEY_INVALID");
  });

  it("end in every process within 5 seconds", async () => {
    const { cookie } = await register();
    const access = await tokenOf(service, cookie);
    const other = await service.another();
    try {
      expect((await other.call("GET", "/v1/me", access)).status).toBe(200);
      await callConsole(service, "DELETE", "", undefined, cookieOf(cookie));
      const endedAt = performance.now();
      await eventually(
        async () => (await other.call("GET", "/v1/me", access)).status,
        (status) => status === 401,
      );
      expect(performance.now() - endedAt).toBeLessThan(5000);
      const headers = { ...cookieOf(cookie), origin: consoleOriginOf(service) };
      expect((await callConsole(other, "POST", "/token", undefined, headers)).code).toBe("SESSION_REQUIRED");
    } finally {
      await other.stop();
    }
  });

  it("are all ended, however many the database has", async () => {
    const { cookie, person } = await register();
    const access = await tokenOf(service, cookie);
    await service.database.query(sql`
      INSERT INTO sessions (id, tenant_id, client_id, hash, credential_id, address, created_at, last_used_at, expires_at, key_id, mac)
      SELECT uuidv7(), tenant_id, client_id, hash, credential_id, address, created_at, last_used_at, expires_at, key_id, mac
      FROM sessions, generate_series(1, 60) WHERE client_id = ${readId("cli", person.id)}`);
    expect((await service.call("DELETE", `/v1/people/${person.id}/sessions`, token)).status).toBe(204);
    expect(await ask(cookie)).toBe("SESSION_REQUIRED");
    expect((await service.call("GET", "/v1/me", access)).status).toBe(401);
  });

  it("are 50 for a person: one more ends the one that was used least recently, with its tokens", async () => {
    const { cookie, authenticator, person } = await register();
    const second = await logInWith(service, authenticator);
    const access = await tokenOf(service, second.cookie);
    const kept = { ...(await find(cookie)), lastUsedAt: new Date() };
    for (let count = 3; count <= 50; count++) await write({ ...kept, id: randomUUID() });
    expect(await ask(cookie)).toBe(300);
    expect((await logInWith(service, authenticator)).status).toBe(201);
    expect([await ask(cookie), await ask(second.cookie)]).toEqual([300, "SESSION_REQUIRED"]);
    expect((await service.call("GET", "/v1/me", access)).status).toBe(401);
    const listed = await service.call("GET", `/v1/people/${person.id}/sessions`, token);
    expect(((await listed.json()) as { data: unknown[] }).data).toHaveLength(50);
    const ended = /=(ses_\w+)\./.exec(second.cookie)?.[1] ?? "";
    const audit = await service.call("GET", `/v1/audit?object=${ended}&action=session.end`, token);
    expect(((await audit.json()) as { data: unknown[] }).data).toHaveLength(1);
  });

  it("are not ended by a client that could not change the person", async () => {
    const path = async (role: string) => `/v1/people/${(await register(role)).person.id}/sessions`;
    const [approver, viewer] = [await path("approver"), await path("viewer")];
    const codeOf = async (at: string, as: string) => {
      const answer = await service.call("DELETE", at, as);
      return answer.status === 204 ? 204 : ((await answer.json()) as { error: { code: string } }).error.code;
    };
    expect(await codeOf(approver, token)).toBe("CHANGE_REQUEST_REQUIRED");
    const narrow = await service.createIndependentClient(owner, ["clients:manage"]);
    expect(await codeOf(viewer, narrow.token)).toBe("INSUFFICIENT_SCOPE");
    expect(await codeOf(viewer, token)).toBe(204);
    const admin = await register("admin");
    expect(await codeOf(`/v1/people/${admin.person.id}/sessions`, token)).toBe(204);
    expect(await ask(admin.cookie)).toBe("SESSION_REQUIRED");
  });

  const find = async (cookie: string): Promise<Session> => {
    const id = readId("ses", /=(ses_\w+)\./.exec(cookie)?.[1] ?? "") ?? "";
    const session = await createSessionStore(service.keyed).findSession(id);
    if (session === undefined) throw new Error("no session");
    return session;
  };
  /** As the service would have written it. */
  const write = async (session: Session) => {
    const operator = { by: "operator", tenantId: session.tenantId } as const;
    const audit = describeAct(operator, "session.open", session.id, new Date());
    await createSessionStore(service.keyed).createSession(
      session,
      audit,
      () => audit,
      () => true,
    );
  };
  /** Writes the session of a cookie with other times. */
  const shift = async (cookie: string, times: (session: Session) => Partial<Session>) => {
    const session = await find(cookie);
    await service.database.query(sql`DELETE FROM sessions WHERE id = ${session.id}`);
    await write({ ...session, ...times(session) });
  };
  const ask = async (cookie: string) => {
    const { code, body } = await callConsole(service, "POST", "/token", undefined, cookieOf(cookie));
    return code ?? body["expires_in"];
  };
  const minutes = 60_000;

  it("end after half an hour of rest", async () => {
    const { cookie } = await register();
    await shift(cookie, () => ({ lastUsedAt: new Date(Date.now() - 29 * minutes) }));
    expect(await ask(cookie)).toBe(300);
    // That was a use, from which the half hour counts again.
    await shift(cookie, ({ lastUsedAt }) => ({ lastUsedAt: new Date(lastUsedAt.getTime() - 29 * minutes) }));
    expect(await ask(cookie)).toBe(300);
    await shift(cookie, () => ({ lastUsedAt: new Date(Date.now() - 30 * minutes - 1) }));
    expect(await ask(cookie)).toBe("SESSION_REQUIRED");
  });

  it("end after half a day, with their tokens", async () => {
    const { cookie, body } = await register();
    const [created, expires] = [body["created_at"], body["expires_at"]].map((at) => Date.parse(String(at)));
    expect((expires ?? 0) - (created ?? 0)).toBe(12 * 60 * minutes);
    await shift(cookie, () => ({ expiresAt: new Date(Date.now() + 3000) }));
    const seconds = await ask(cookie);
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(3);
    await shift(cookie, () => ({ expiresAt: new Date(Date.now() - 1) }));
    expect(await ask(cookie)).toBe("SESSION_REQUIRED");
    const listed = await service.call(
      "GET",
      `/v1/people/${(body["person"] as { id: string }).id}/sessions`,
      token,
    );
    expect(await listed.json()).toEqual({ data: [] });
  });
});
