import { generateKeyPairSync } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

interface ShownClient {
  id: string;
  secret: string | null;
  scopes: string[];
  secrets: { id: string; expires_at: string | null }[];
  keys: { id: string; public_key: string | null }[];
  error?: { code: string; message: string; details?: unknown };
}

describe("clients", () => {
  let owner: TestClient;
  let token: string;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
  });

  const call = async (
    method: string,
    path: string,
    body?: unknown,
    as = token,
    headers: Record<string, string> = {},
  ) => {
    const response = await service.call(method, path, as, body, headers);
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as ShownClient,
    };
  };
  const create = async (scopes: string[], as = token) =>
    (await call("POST", "/v1/clients", { name: "made", scopes }, as)).body;
  const login = (client: ShownClient, secret = client.secret) =>
    service.token({ clientId: client.id, secret: secret ?? "" });

  it("are created with a secret that is shown once and stored as a hash", async () => {
    const { status, headers, body } = await call("POST", "/v1/clients", {
      name: "made",
      scopes: ["audit:read"],
    });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`/v1/clients/${body.id}`);
    expect(body.secret).toMatch(/^bsk_[A-Za-z0-9_-]{43}$/);
    const read = await call("GET", `/v1/clients/${body.id}`);
    expect(read.body).not.toHaveProperty("secret");
    const dump = JSON.stringify(
      await service.database.query(sql`SELECT *, encode(hash, 'escape') FROM client_secrets`),
    );
    expect(dump).not.toContain(body.secret);
    expect((await service.call("GET", "/v1/audit", await login(body))).status).toBe(200);
  });

  it("are listed newest first, a page at a time, while others arrive", async () => {
    const made = [];
    for (let count = 0; count < 5; count++) made.push((await create([])).id);
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = (await (await service.call("GET", `/v1/clients?limit=2${cursor}`, token)).json()) as {
        data: { id: string }[];
        next_cursor: string | null;
      };
      seen.push(...page.data.map((client) => client.id));
      cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
      await create([]);
    } while (cursor !== "");
    expect(seen).toEqual([...made.reverse(), owner.clientId]);
  });

  it.each(["x", "Y2xpZW50czo", "YXVkaXQ6NQ", Buffer.from("clients:' OR 1=1").toString("base64url")])(
    "refuse the cursor %s",
    async (cursor) => {
      const { status, body } = await call("GET", `/v1/clients?cursor=${cursor}`);
      expect([status, body.error?.details]).toEqual([
        400,
        [{ path: "query.cursor", reason: "is not a cursor of this list" }],
      ]);
    },
  );

  describe("an idempotency key", () => {
    const send = (key: string, name = "once") =>
      call("POST", "/v1/clients", { name, scopes: [] }, token, { "idempotency-key": key });

    it("finds the client that the first request created, with a quoted or bare key and fields in any order", async () => {
      const first = await send("key-1");
      const again = await call("POST", "/v1/clients", '{ "scopes": [], "name": "once" }', token, {
        "idempotency-key": '"key-1"',
      });
      expect([again.status, again.body.id, again.body.secret]).toEqual([201, first.body.id, null]);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(first.headers.get("idempotent-replayed")).toBeNull();
    });

    it("creates one client for many concurrent requests", async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => send("key-race")));
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      expect(answers.filter(({ body }) => body.secret !== null)).toHaveLength(1);
    });

    it("is refused for another body", async () => {
      await send("key-2");
      const { status, body } = await send("key-2", "other");
      expect([status, body.error?.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
    });

    it("belongs to one tenant", async () => {
      const mine = await send("key-3");
      const stranger = await service.token(await service.createTenant());
      const theirs = await call("POST", "/v1/clients", { name: "once", scopes: [] }, stranger, {
        "idempotency-key": "key-3",
      });
      expect(theirs.body.id).not.toBe(mine.body.id);
    });

    it.each(["", '"', '"open', "has space", "a\\b", "a".repeat(256)])(
      "is refused as malformed: %j",
      async (key) => {
        const { status, body } = await send(key);
        expect([status, body.error?.code]).toEqual([400, "IDEMPOTENCY_KEY_INVALID"]);
      },
    );

    it("is not used up by a request that is refused", async () => {
      const narrow = await create(["clients:manage"]);
      const limited = await login(narrow);
      const body = { name: "wide", scopes: ["audit:read"] };
      const refused = await call("POST", "/v1/clients", body, limited, { "idempotency-key": "key-4" });
      expect(refused.status).toBe(403);
      expect((await call("POST", "/v1/clients", body, token, { "idempotency-key": "key-4" })).status).toBe(
        201,
      );
    });
  });

  describe("authority", () => {
    it("is limited to the caller's own scopes, for creating and for changing clients", async () => {
      const manager = await login(await create(["clients:manage"]));
      const created = await call(
        "POST",
        "/v1/clients",
        { name: "x", scopes: ["transactions:write"] },
        manager,
      );
      expect([created.status, created.body.error?.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
      expect(created.body.error?.message).toContain("transactions:write");
      const own = await create(["clients:manage"], manager);
      const widened = await call(
        "PATCH",
        `/v1/clients/${own.id}`,
        { scopes: ["clients:manage", "audit:read"] },
        manager,
      );
      expect(widened.status).toBe(403);
    });

    it("is that of the token, not of the client", async () => {
      const limited = await service.token(owner, "clients:manage");
      expect((await call("POST", "/v1/clients", { name: "x", scopes: ["audit:read"] }, limited)).status).toBe(
        403,
      );
    });

    it("does not allow changes of the secrets, keys or state of a client with more scopes", async () => {
      const manager = await login(await create(["clients:manage"]));
      const path = `/v1/clients/${owner.clientId}`;
      const x = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x;
      const { body: mighty } = await call("GET", path);
      const attempts = [
        await call("POST", `${path}/secrets`, {}, manager),
        await call("POST", `${path}/keys`, { algorithm: "ed25519", public_key: x }, manager),
        await call("PATCH", path, { state: "disabled" }, manager),
        await call("DELETE", `${path}/secrets/${mighty.secrets[0]?.id}`, undefined, manager),
      ];
      expect(attempts.map(({ status, body }) => [status, body.error?.code])).toEqual(
        attempts.map(() => [403, "INSUFFICIENT_SCOPE"]),
      );
      // It was used to log in, which is written a moment later.
      const { secrets } = mighty;
      expect((await call("GET", path)).body).toEqual({
        ...mighty,
        secrets: secrets.map((secret) => ({
          ...secret,
          last_used_at: expect.toBeOneOf([null, expect.any(String)]),
        })),
      });
    });
  });

  it("rotate their secret without interruption, and never have more than two", async () => {
    const client = await create([]);
    const rotate = async (body: object) =>
      (await call("POST", `/v1/clients/${client.id}/secrets`, body)).body as unknown as {
        secret: string;
        client: ShownClient;
      };
    const second = await rotate({});
    expect(second.client.secrets).toHaveLength(2);
    expect(second.client.secrets.filter(({ expires_at }) => expires_at === null)).toHaveLength(1);
    await login(client);
    await login(client, second.secret);
    // A retry of a rotation whose response was lost: the secret in use stays valid.
    const third = await rotate({ overlap_seconds: 60 });
    expect(third.client.secrets).toHaveLength(2);
    await login(client);
    await expect(login(client, second.secret)).rejects.toThrow();
    await login(client, third.secret);
    const fourth = await rotate({ overlap_seconds: 0 });
    expect(fourth.client.secrets).toHaveLength(1);
    await expect(login(client, third.secret)).rejects.toThrow();
    await login(client, fourth.secret);
  });

  it("cannot use a removed secret", async () => {
    const client = await create([]);
    const [secret] = (await call("GET", `/v1/clients/${client.id}`)).body.secrets;
    expect((await call("DELETE", `/v1/clients/${client.id}/secrets/${secret?.id}`)).body.secrets).toEqual([]);
    await expect(login(client)).rejects.toThrow();
    const again = await call("DELETE", `/v1/clients/${client.id}/secrets/${secret?.id}`);
    expect([again.status, again.body.error?.code]).toEqual([404, "CREDENTIAL_NOT_FOUND"]);
  });

  it("have keys, up to ten, which can be removed", async () => {
    const client = await create([]);
    const path = `/v1/clients/${client.id}/keys`;
    const added = [];
    for (let count = 0; count < 10; count++)
      added.push(await call("POST", path, { algorithm: "hmac-sha256" }));
    expect(added.every(({ status }) => status === 201)).toBe(true);
    expect((await call("POST", path, { algorithm: "hmac-sha256" })).body.error?.code).toBe(
      "KEY_LIMIT_REACHED",
    );
    const [first] = added.map(({ body }) => body as unknown as { key: { id: string } });
    const key = { id: first?.key.id };
    expect((await call("DELETE", `${path}/${key.id}`)).body.keys).toHaveLength(9);
    expect((await call("DELETE", `${path}/${key.id}`)).body.error?.code).toBe("CREDENTIAL_NOT_FOUND");
  });

  it.each([
    [{ algorithm: "ed25519" }, "is required for ed25519"],
    [{ algorithm: "ed25519", public_key: "A".repeat(43) }, "is not an Ed25519 public key"],
    [{ algorithm: "hmac-sha256", public_key: "A".repeat(43) }, "is not allowed for hmac-sha256"],
  ])("refuse the key %j", async (body, reason) => {
    const answer = await call("POST", `/v1/clients/${owner.clientId}/keys`, body);
    expect([answer.status, answer.body.error?.details]).toEqual([
      400,
      [{ path: "body.public_key", reason: expect.stringContaining(reason) }],
    ]);
  });

  it.each([
    [{}, "body"],
    [{ state: "gone" }, "body.state"],
    [{ scopes: ["everything"] }, "body.scopes.0"],
    [{ scopes: ["audit:read", "audit:read"] }, "body.scopes"],
    [{ name: "" }, "body.name"],
    [{ tenant_id: "tnt_01h455vb4pex5vsknk084sn02q" }, "body.tenant_id"],
  ])("refuse the change %j", async (body, path) => {
    const answer = await call("PATCH", `/v1/clients/${owner.clientId}`, body);
    expect([answer.status, answer.body.error?.details]).toEqual([400, [expect.objectContaining({ path })]]);
  });
});
