import { builtInRoles, readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

interface ShownPerson {
  id: string;
  state: string;
  role: string;
  scopes: string[];
  invitation: { url: string; expires_at: string } | null;
  error?: { code: string; message: string };
}

describe("people", () => {
  let owner: TestClient;
  let token: string;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
  });

  const call = async (method: string, path: string, body?: unknown, as = token, headers = {}) => {
    const response = await service.call(method, path, as, body, headers);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === "" ? {} : JSON.parse(text)) as ShownPerson,
      code: text === "" ? undefined : (JSON.parse(text) as ShownPerson).error?.code,
    };
  };
  const invite = (role: string, email = "ada@treasury.example", as = token, headers = {}) =>
    call("POST", "/v1/people", { email, name: "Ada", role }, as, headers);

  it("are invited with a link that is shown once, in a fragment, and stored as a hash", async () => {
    const { status, headers, body } = await invite("operator");
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`/v1/people/${body.id}`);
    expect(body).toMatchObject({ state: "invited", role: "operator", scopes: [...builtInRoles.operator] });
    const url = new URL(body.invitation?.url ?? "");
    expect([url.hostname, url.pathname, url.search]).toEqual(["localhost", "/console", ""]);
    expect(url.hash).toMatch(new RegExp(`^#invitation=${body.id}\\.bsk_[A-Za-z0-9_-]{43}$`));
    const secret = url.hash.split(".").at(-1) ?? "";
    const dump = JSON.stringify(
      await service.database.query(sql`SELECT *, encode(hash, 'escape') FROM client_secrets`),
    );
    expect(dump).not.toContain(secret);
    const read = await call("GET", `/v1/people/${body.id}`);
    expect(JSON.stringify(read.body)).not.toContain("bsk_");
    // It is no client secret.
    await expect(service.token({ clientId: body.id, secret })).rejects.toThrow();
  });

  it("are invited once for a key, and once for an address in any case", async () => {
    const first = await invite("viewer", "ada@treasury.example", token, { "idempotency-key": "one" });
    const again = await invite("viewer", "ada@treasury.example", token, { "idempotency-key": "one" });
    expect([again.status, again.body.id, again.body.invitation]).toEqual([201, first.body.id, null]);
    expect((await invite("viewer", "Ada@Treasury.example")).code).toBe("PERSON_EXISTS");
    const elsewhere = await service.createTenant();
    expect((await invite("viewer", "ada@treasury.example", await service.token(elsewhere))).status).toBe(201);
  });

  it("have no address or name with characters that nobody sees", async () => {
    const { body } = await invite("viewer");
    for (const email of ["ada\u200b@treasury.example", "ada@treasury\uff0eexample"])
      expect((await invite("viewer", email)).body.error).toMatchObject({
        code: "INVALID_REQUEST",
        details: [{ path: "body.email" }],
      });
    const named = { code: "INVALID_REQUEST", details: [{ path: "body.name" }] };
    const other = { email: "grace@treasury.example", name: "Grace\u202e", role: "viewer" };
    expect((await call("POST", "/v1/people", other)).body.error).toMatchObject(named);
    for (const path of ["people", "clients"]) {
      const renamed = await call("PATCH", `/v1/${path}/${body.id}`, { name: "Ada\u0007" });
      expect([renamed.status, renamed.body.error]).toMatchObject([400, named]);
    }
    const people = await call("GET", "/v1/people");
    expect(people.body).toMatchObject({ data: [{ email: "ada@treasury.example", name: "Ada" }] });
  });

  it("get no role that has more than the caller", async () => {
    const admin = await service.createIndependentClient(owner, ["clients:manage", ...builtInRoles.viewer]);
    expect((await invite("viewer", "a@treasury.example", admin.token)).status).toBe(201);
    const beyond = await invite("approver", "b@treasury.example", admin.token);
    expect(beyond.code).toBe("INSUFFICIENT_SCOPE");
    // An administrator cannot make approvers, and learns who can.
    expect(beyond.body.error?.message).toContain("lacks transactions:approve");
    expect(beyond.body.error?.message).toContain("`bursar people invite`");
    expect((await invite("no-such-role")).code).toBe("ROLE_NOT_FOUND");
    const { body } = await invite("admin", "c@treasury.example");
    expect((await call("PATCH", `/v1/people/${body.id}`, { role: "viewer" }, admin.token)).code).toBe(
      "INSUFFICIENT_SCOPE",
    );
  });

  it("are changed and disabled by a client that may, unless they are protected", async () => {
    const { body: viewer } = await invite("viewer");
    const path = `/v1/people/${viewer.id}`;
    const changed = await call("PATCH", path, { role: "auditor", name: "Ada L." });
    expect(changed.body).toMatchObject({
      role: "auditor",
      scopes: [...builtInRoles.auditor],
      name: "Ada L.",
    });
    expect((await call("PATCH", path, { state: "disabled" })).body.state).toBe("disabled");
    expect((await call("PATCH", path, { state: "active" })).body.state).toBe("invited");
    const { body: approver } = await invite("approver", "grace@treasury.example");
    const protectedPath = `/v1/people/${approver.id}`;
    expect((await call("PATCH", protectedPath, { role: "viewer" })).code).toBe("CHANGE_REQUEST_REQUIRED");
    expect((await call("PATCH", protectedPath, { state: "disabled" })).code).toBe("CHANGE_REQUEST_REQUIRED");
  });

  it("are not changed like programs, and programs not like people", async () => {
    const { body } = await invite("viewer");
    const path = `/v1/clients/${body.id}`;
    for (const [method, at, given] of [
      ["PATCH", path, { scopes: ["audit:read"] }],
      ["PATCH", path, { require_signature: true }],
      ["POST", `${path}/secrets`, {}],
      ["POST", `${path}/keys`, { algorithm: "hmac-sha256" }],
    ] as const)
      expect((await call(method, at, given)).code).toBe("CLIENT_IS_PERSON");
    expect((await call("GET", path)).body).toMatchObject({ kind: "person", secrets: [], keys: [] });
    expect((await call("GET", `/v1/people/${owner.clientId}`)).code).toBe("PERSON_NOT_FOUND");
    expect((await call("PATCH", `/v1/people/${owner.clientId}`, { state: "disabled" })).code).toBe(
      "PERSON_NOT_FOUND",
    );
    expect((await call("POST", `/v1/people/${owner.clientId}/invitation`)).code).toBe("PERSON_NOT_FOUND");
    expect((await call("GET", "/v1/me")).status).toBe(200);
  });

  it("are protected by an approval: of a new role, and of a recovery", async () => {
    const scopes = ["clients:manage", ...builtInRoles.viewer, "transactions:approve"] as const;
    const requester = await service.createIndependentClient(owner, scopes);
    const approver = await service.createIndependentClient(owner, scopes);
    const { body: person } = await invite("approver");
    const request = async (kind: string, change: object, by: string | undefined = requester.token) => {
      const made = await call("POST", "/v1/change-requests", { kind, change }, by);
      expect(made.status).toBe(201);
      const { id, digest } = made.body as unknown as { id: string; digest: string };
      return await call("POST", `/v1/change-requests/${id}/approve`, { digest }, approver.token);
    };
    // The requester has not seen the link, so it cannot make another one.
    const recover = () => call("POST", `/v1/people/${person.id}/invitation`, undefined, requester.token);
    expect((await recover()).code).toBe("CHANGE_REQUEST_REQUIRED");
    // Another change that was approved for it gives it no link either.
    for (const state of ["disabled", "active"])
      expect((await request("client.change", { client_id: person.id, state })).body.state).toBe("applied");
    expect((await recover()).code).toBe("CHANGE_REQUEST_REQUIRED");
    expect((await request("person.recover", { client_id: person.id })).body.state).toBe("applied");
    // Nor can the one who invited the person take over what was approved for the requester.
    const inviterAgain = () => call("POST", `/v1/people/${person.id}/invitation`);
    expect((await inviterAgain()).code).toBe("CHANGE_REQUEST_REQUIRED");
    expect((await recover()).status).toBe(201);
    expect((await inviterAgain()).code).toBe("CHANGE_REQUEST_REQUIRED");
    // Not even after a change of the role was approved for it.
    for (const state of ["disabled", "active"])
      expect((await request("client.change", { client_id: person.id, state }, token)).body.state).toBe(
        "applied",
      );
    expect((await inviterAgain()).code).toBe("CHANGE_REQUEST_REQUIRED");
    const changed = await request("client.change", { client_id: person.id, role: "viewer" });
    expect(changed.body.state).toBe("applied");
    expect((await call("GET", `/v1/people/${person.id}`)).body).toMatchObject({
      role: "viewer",
      scopes: [...builtInRoles.viewer],
    });
    const ofProgram = { kind: "client.change", change: { client_id: person.id, scopes: [] } };
    expect((await call("POST", "/v1/change-requests", ofProgram)).code).toBe("CLIENT_IS_PERSON");
  });

  it.each([
    ["made again with other scopes", ["clients:manage", "policies:manage"], "CHANGE_REQUEST_STALE"],
    ["deleted", undefined, "ROLE_NOT_FOUND"],
    ["made again with the same scopes", ["wallets:read"], null],
  ])("get the scopes that were approved, or none: the role is %s", async (_case, later, failure_code) => {
    const may = [
      "clients:manage",
      "policies:manage",
      "transactions:approve",
      ...builtInRoles.viewer,
    ] as const;
    const requester = await service.createIndependentClient(owner, may);
    const approver = await service.createIndependentClient(owner, may);
    const { body: person } = await invite("approver");
    const createRole = (scopes: string[]) =>
      call("POST", "/v1/roles", { name: "reader", scopes }, requester.token);
    expect((await createRole(["wallets:read"])).status).toBe(201);
    const asked = { kind: "client.change", change: { client_id: person.id, role: "reader" } };
    const made = await call("POST", "/v1/change-requests", asked, requester.token);
    const { id, digest, change } = made.body as unknown as { id: string; digest: string; change: object };
    await service.database.query(sql`DELETE FROM roles WHERE name = 'reader'`);
    if (later !== undefined) expect((await createRole(later)).status).toBe(201);
    const approve = `/v1/change-requests/${id}/approve`;
    const decided = await call("POST", approve, { digest }, approver.token);
    expect(decided.body).toMatchObject({ state: failure_code === null ? "applied" : "failed", failure_code });
    const after =
      failure_code === null
        ? { role: "reader", scopes: ["wallets:read"] }
        : { role: "approver", scopes: [...builtInRoles.approver] };
    expect((await call("GET", `/v1/people/${person.id}`)).body).toMatchObject(after);
    // The approver has seen them.
    expect(change).toEqual({ ...asked.change, scopes: ["wallets:read"], scopes_before: expect.any(Array) });
  });

  it("get a new link, with which the earlier one ends", async () => {
    const { body } = await invite("approver");
    const again = await call("POST", `/v1/people/${body.id}/invitation`);
    expect(again.status).toBe(201);
    expect(again.body.invitation?.url).not.toBe(body.invitation?.url);
    const secrets = await service.database.query(
      sql`SELECT id FROM client_secrets WHERE client_id = ${readId("cli", body.id)}`,
    );
    expect(secrets.length).toBe(1);
  });

  it("have a role that nobody else can write", async () => {
    const { body } = await invite("viewer");
    await service.database.query(sql`UPDATE clients SET role = 'admin' WHERE id = ${readId("cli", body.id)}`);
    expect((await call("GET", `/v1/people/${body.id}`)).body.state).toBe("disabled");
    expect((await call("PATCH", `/v1/people/${body.id}`, { name: "x" })).code).toBe("CLIENT_TAMPERED");
  });

  it("leave an audit entry for each act", async () => {
    const { body } = await invite("viewer");
    await call("PATCH", `/v1/people/${body.id}`, { name: "Ada L." });
    await call("POST", `/v1/people/${body.id}/invitation`);
    await call("POST", "/v1/roles", { name: "treasurer", scopes: ["wallets:read"] });
    await call("DELETE", "/v1/roles/treasurer");
    const log = (await call("GET", "/v1/audit")).body as unknown as {
      data: { action: string; object: string }[];
    };
    // Issued tokens are recorded a moment later, between the acts.
    const acts = log.data.filter(({ action }) => action !== "token.issue").slice(0, 5);
    expect(acts.map(({ action, object }) => `${action} ${object}`)).toEqual([
      "role.delete treasurer",
      "role.create treasurer",
      `person.recover ${body.id}`,
      `person.change ${body.id}`,
      `person.invite ${body.id}`,
    ]);
  });
});

describe("roles", () => {
  let owner: TestClient;
  let token: string;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
  });
  const call = async (method: string, path: string, body?: unknown, as = token) => {
    const response = await service.call(method, path, as, body);
    return response.status === 204 ? 204 : await response.json();
  };
  const treasurer = { name: "treasurer", scopes: ["wallets:read"] };

  it("of a tenant are created, given and deleted when nobody has them", async () => {
    expect(await call("POST", "/v1/roles", treasurer)).toMatchObject({ ...treasurer, built_in: false });
    expect(await call("POST", "/v1/roles", treasurer)).toMatchObject({ error: { code: "ROLE_EXISTS" } });
    const { data } = (await call("GET", "/v1/roles")) as { data: { name: string }[] };
    expect(data.map(({ name }) => name)).toEqual([...Object.keys(builtInRoles), "treasurer"]);
    const invited = { email: "t@treasury.example", name: "T", role: "treasurer" };
    const person = (await call("POST", "/v1/people", invited)) as ShownPerson;
    expect(person.scopes).toEqual(["wallets:read"]);
    expect(await call("DELETE", "/v1/roles/treasurer")).toMatchObject({ error: { code: "ROLE_IN_USE" } });
    await call("PATCH", `/v1/people/${person.id}`, { role: "viewer" });
    expect(await call("DELETE", "/v1/roles/treasurer")).toBe(204);
    expect(await call("DELETE", "/v1/roles/treasurer")).toMatchObject({ error: { code: "ROLE_NOT_FOUND" } });
  });

  it("cannot have what the caller lacks, nor what only the operator grants, nor the name of a built-in one", async () => {
    const few = await service.createIndependentClient(owner, ["clients:manage"]);
    expect(await call("POST", "/v1/roles", treasurer, few.token)).toMatchObject({
      error: { code: "INSUFFICIENT_SCOPE" },
    });
    expect(await call("POST", "/v1/roles", { name: "minter", scopes: ["deposits:write"] })).toMatchObject({
      error: { code: "INSUFFICIENT_SCOPE" },
    });
    expect(await call("POST", "/v1/roles", { ...treasurer, name: "admin" })).toMatchObject({
      error: { code: "ROLE_EXISTS" },
    });
    expect(await call("DELETE", "/v1/roles/admin")).toMatchObject({ error: { code: "ROLE_IN_USE" } });
  });

  it("that something else has written do not exist", async () => {
    await call("POST", "/v1/roles", treasurer);
    const tenantId = readId("tnt", owner.tenantId);
    await service.database.query(
      sql`UPDATE roles SET scopes = '{wallets:read,wallets:write}' WHERE tenant_id = ${tenantId}`,
    );
    const body = { email: "t@treasury.example", name: "T", role: "treasurer" };
    expect(await call("POST", "/v1/people", body)).toMatchObject({ error: { code: "ROLE_NOT_FOUND" } });
  });
});
