import { request } from "node:http";
import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { eventually } from "../../../harness/eventually.js";
import {
  callConsole,
  consoleOriginOf,
  cookieOf,
  registerWith,
  tokenOf,
} from "../../../harness/people/log-in.js";
import { inspectTamperedService } from "../../../harness/service/shared-service.js";

const service = await inspectTamperedService();

describe("the records of sessions", () => {
  let token: string;
  beforeEach(async () => {
    token = await service.token(await service.createTenant());
  });

  const register = async (role = "viewer") => {
    const body = { email: `${role}@treasury.example`, name: "Ada", role };
    const answer = await service.call("POST", "/v1/people", token, body);
    const person = (await answer.json()) as { id: string; invitation: { url: string } };
    return { ...(await registerWith(service, person.invitation.url)), person };
  };
  const ask = async (cookie: string) => {
    const { code, body } = await callConsole(service, "POST", "/token", undefined, cookieOf(cookie));
    return code ?? body["expires_in"];
  };

  it("are named by the audit entries of what their person does or tries, with all of their tokens", async () => {
    const { cookie, person } = await register("operator");
    const session_id = /=(ses_\w+)\./.exec(cookie)?.[1];
    for (const name of ["one", "two"]) {
      const access = await tokenOf(service, cookie);
      const wallet = { name, purpose: "payout" };
      expect((await service.call("POST", "/v1/wallets", access, wallet)).status).toBe(202);
      expect((await service.call("GET", "/v1/clients", access)).status).toBe(403);
    }
    const entries = await eventually(
      async () => {
        const listed = await service.call("GET", `/v1/audit?client_id=${person.id}`, token);
        const { data } = (await listed.json()) as { data: { action: string; token_id: string }[] };
        return data.filter(({ action }) => action === "wallet.create" || action === "GET /v1/clients");
      },
      (found) => found.length === 4,
    );
    expect(entries).toEqual(entries.map(() => expect.objectContaining({ session_id })));
    expect(new Set(entries.map(({ token_id }) => token_id)).size).toBe(2);
  });

  it("show that a cookie was used from another address, and from which", async () => {
    const { cookie, person } = await register("admin");
    const useFrom = (localAddress: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { ...cookieOf(cookie), origin: consoleOriginOf(service) };
        const url = `${service.url}/console/session/token`;
        request(url, { method: "POST", localAddress, headers }, (answer) => {
          answer.resume().on("end", () => resolve(answer.statusCode));
        })
          .on("error", reject)
          .end();
      });
    for (const address of ["127.0.0.1", "127.0.0.77", "127.0.0.77"]) expect(await useFrom(address)).toBe(200);
    const read = async (path: string) =>
      ((await (await service.call("GET", path, token)).json()) as { data: unknown[] }).data;
    expect(await read(`/v1/people/${person.id}/sessions`)).toMatchObject([
      { address: "127.0.0.1", last_address: "127.0.0.77" },
    ]);
    const session_id = /=(ses_\w+)\./.exec(cookie)?.[1];
    const used = { actor: "client", client_id: person.id, session_id, object: session_id };
    expect(await read("/v1/audit?action=session.use")).toMatchObject([{ ...used, address: "127.0.0.77" }]);
  });

  it("end if their address was changed in the database", async () => {
    const { cookie, person } = await register();
    expect(await ask(cookie)).toBe(300);
    const id = readId("cli", person.id);
    await service.database.query(sql`UPDATE sessions SET address = '203.0.113.9' WHERE client_id = ${id}`);
    expect(await ask(cookie)).toBe("SESSION_REQUIRED");
  });

  it("do not open again when a writer to the database takes back that they have ended", async () => {
    const { cookie, person } = await register();
    const id = readId("cli", person.id);
    const { query } = service.database;
    const [before] = await query<{ row: string }>(
      sql`SELECT to_json(sessions)::text AS row FROM sessions WHERE client_id = ${id}`,
    );
    const ended = await callConsole(service, "DELETE", "", undefined, cookieOf(cookie));
    expect(ended.status).toBe(204);
    const forget = () => query(sql`DELETE FROM revoked_tokens WHERE client_id = ${id}`);
    await query(sql`UPDATE sessions SET ended_at = NULL WHERE client_id = ${id}`);
    await forget();
    expect(await ask(cookie)).toBe("SESSION_REQUIRED");
    const listed = await service.call("GET", `/v1/people/${person.id}/sessions`, token);
    expect(await listed.json()).toMatchObject({ data: [] });
    // As it was, with its MAC.
    await query(sql`DELETE FROM sessions WHERE client_id = ${id}`);
    await query(
      sql`INSERT INTO sessions SELECT * FROM json_populate_record(NULL::sessions, ${before?.row}::json)`,
    );
    await forget();
    expect(await ask(cookie)).toBe("SESSION_REQUIRED");
    // One that was not ended is used as before.
    const { cookie: other } = await register("auditor");
    expect(await ask(other)).toBe(300);
  });

  it("end also if a writer to the database has hidden for that moment that they are open", async () => {
    const { cookie, person } = await register();
    const id = readId("cli", person.id);
    const { query } = service.database;
    await query(sql`UPDATE sessions SET ended_at = now() WHERE client_id = ${id}`);
    const ended = await service.call("DELETE", `/v1/people/${person.id}/sessions`, token);
    expect(ended.status).toBe(204);
    await query(sql`UPDATE sessions SET ended_at = NULL WHERE client_id = ${id}`);
    expect(await ask(cookie)).toBe("SESSION_REQUIRED");
  });

  it("are not made by a writer to the database", async () => {
    const { cookie, person } = await register();
    const id = readId("cli", person.id);
    const rest = sql`UPDATE sessions SET last_used_at = now() + interval '1 minute' WHERE client_id = ${id}`;
    await service.database.query(rest);
    expect(await ask(cookie)).toBe("SESSION_REQUIRED");
    const { cookie: other } = await register("auditor");
    await service.database.query(sql`UPDATE sessions SET client_id = ${id} WHERE client_id <> ${id}`);
    expect((await callConsole(service, "POST", "/token", undefined, cookieOf(other))).code).toBe(
      "SESSION_REQUIRED",
    );
  });
});
