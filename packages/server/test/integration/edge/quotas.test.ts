import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";

const small = { per_second: 1, burst: 3 };
const transaction = { reference: "quota", asset: "USD", amount: "1" };

describe("a quota", () => {
  let service: TestService;
  let manager: TestClient;
  let managerToken: string;
  beforeAll(async () => {
    service = await startTestService();
    manager = await service.createTenant("1000");
    managerToken = await service.token(manager);
  });
  afterAll(() => service.stop());

  /** A client of the manager's tenant with quotas of its own. */
  async function createClient(
    quotas: Client["quotas"],
    scopes = ["transactions:write", "transactions:read"],
  ) {
    const created = await service.call("POST", "/v1/clients", managerToken, { name: "limited", scopes });
    const { id, secret } = (await created.json()) as { id: string; secret: string };
    const changed = await service.call("PATCH", `/v1/clients/${id}`, managerToken, { quotas });
    expect([changed.status, ((await changed.json()) as Client).quotas]).toEqual([200, quotas]);
    return { id, token: await service.token({ clientId: id, secret }) };
  }
  const create = (token: string, key: string = randomUUID(), on = service) =>
    on.call("POST", "/v1/transactions", token, transaction, { "idempotency-key": key });
  const codeOf = async (response: Response) =>
    ((await response.json()) as { error?: { code: string } }).error?.code;

  it("is reported in every response to an authenticated client, in the syntax of the draft", async () => {
    const read = await service.call("GET", "/v1/transactions", managerToken);
    expect(read.headers.get("ratelimit-policy")).toBe('"read";q=2000;w=2');
    expect(read.headers.get("ratelimit")).toMatch(/^"read";r=(199\d|2000);t=[01]$/);
    const refused = await service.call("POST", "/v1/transactions", managerToken, {});
    expect([refused.status, refused.headers.get("ratelimit-policy")]).toEqual([400, '"create";q=2000;w=2']);
    const forbidden = await service.call("GET", "/v1/audit", await service.token(manager, "events:read"));
    expect([forbidden.status, forbidden.headers.get("ratelimit-policy")]).toEqual([
      403,
      '"manage";q=500;w=5',
    ]);
    const stranger = await service.call("GET", "/v1/transactions", undefined);
    expect([stranger.status, stranger.headers.get("ratelimit")]).toEqual([401, null]);
  });

  it("counts down, refuses with the time to wait, uses up no key, and admits the client after that time", async () => {
    const { token } = await createClient({ create: small });
    for (const left of [2, 1, 0]) {
      const response = await create(token);
      expect(response.status).toBe(202);
      expect(response.headers.get("ratelimit-policy")).toBe('"create";q=3;w=3');
      // On a slow machine the bucket may have gained a token meanwhile.
      expect(Number(/r=(\d)/.exec(response.headers.get("ratelimit") ?? "")?.[1])).toBeGreaterThanOrEqual(
        left,
      );
    }
    let key = "";
    const refused = await eventually(
      () => {
        // A new one each time: on a slow machine a request may be admitted first.
        key = randomUUID();
        return create(token, key);
      },
      ({ status }) => status === 429,
    );
    const waitSeconds = Number(refused.headers.get("retry-after"));
    expect(waitSeconds).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get("ratelimit")).toBe(`"create";r=0;t=${waitSeconds}`);
    expect(await codeOf(refused)).toBe("RATE_LIMITED");
    // Reads have a separate quota.
    expect((await service.call("GET", "/v1/transactions", token)).status).toBe(200);
    await sleep(waitSeconds * 1000);
    const other = { ...transaction, reference: "another body with the key of the refused request" };
    const again = await service.call("POST", "/v1/transactions", token, other, { "idempotency-key": key });
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([202, null]);
  });

  it("is checked before the body is read", async () => {
    const { token } = await createClient({ create: { per_second: 1, burst: 1 } });
    await create(token);
    const refused = await eventually(
      () => service.call("POST", "/v1/transactions", token, "no JSON"),
      ({ status }) => status !== 400,
    );
    expect(refused.status).toBe(429);
  });

  it("can be lowered by a client that manages clients, raised up to its own quota, and beyond that only by the operator", async () => {
    const { id } = await createClient({ read: { per_second: 1000, burst: 2000 } });
    const change = (quotas: object) => service.call("PATCH", `/v1/clients/${id}`, managerToken, { quotas });
    const beyond = await change({ read: { per_second: 1001, burst: 5 }, create: small });
    expect([beyond.status, await beyond.json()]).toMatchObject([
      403,
      { error: { code: "QUOTA_BEYOND_OWN", details: [{ path: "body.quotas.read" }] } },
    ]);
    await service.database.query(
      sql`UPDATE clients SET quotas = ${JSON.stringify({ read: { per_second: 5000, burst: 9000 } })} WHERE id = ${manager.client.id}`,
    );
    expect((await change({ read: { per_second: 5000, burst: 9000 } })).status).toBe(200);
    expect((await change({})).status).toBe(200);
    expect((await change({ read: { per_second: 0, burst: 1 } })).status).toBe(400);
    expect((await change({ other: small })).status).toBe(400);
  });

  it("applies to the token endpoint too, but not to the revocation of a valid token", async () => {
    const { id } = await createClient({ auth: { per_second: 1, burst: 1 } });
    const rotated = await service.call("POST", `/v1/clients/${id}/secrets`, managerToken, {});
    const { secret } = (await rotated.json()) as { secret: string };
    const form = (path: string, fields: Record<string, string>) =>
      fetch(service.url + path, {
        method: "POST",
        body: new URLSearchParams({ client_id: id, client_secret: secret, ...fields }),
      });
    const request = () => form("/oauth/token", { grant_type: "client_credentials" });
    const issued = await eventually(request, ({ status }) => status === 200);
    const { access_token: token } = (await issued.json()) as { access_token: string };
    const refused = await eventually(request, ({ status }) => status !== 200);
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, 1]);
    expect(await refused.json()).toMatchObject({ error: "slow_down" });
    expect((await form("/oauth/revoke", { token })).status).toBe(200);
    // What revokes nothing is work for nothing.
    expect((await form("/oauth/revoke", { token: "x" })).status).toBe(429);
  });
});

describe("the quota of an address", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ "quotas.address_per_second": "1", "quotas.address_burst": "5" });
  });
  afterAll(() => service.stop());

  it("applies to requests without a valid token, and not to authenticated clients", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    const read = (as: string | undefined) => service.call("GET", "/v1/wallets", as);
    expect((await read(token)).status).toBe(200);
    const wrong = await eventually(
      () => read("x"),
      ({ status }) => status !== 401,
    );
    expect([wrong.status, Number(wrong.headers.get("retry-after"))]).toEqual([429, 1]);
    expect(await wrong.json()).toMatchObject({ error: { code: "RATE_LIMITED" } });
    const missing = await eventually(
      () => read(undefined),
      ({ status }) => status !== 401,
    );
    expect(missing.status).toBe(429);
    const oauth = await eventually(
      () => fetch(`${service.url}/oauth/token`, { method: "POST", body: new URLSearchParams({ x: "y" }) }),
      ({ status }) => status !== 400,
    );
    expect([oauth.status, await oauth.json()]).toEqual([
      429,
      { error: "slow_down", error_description: "Too many failed requests from this address." },
    ]);
    expect((await read(token)).status).toBe(200);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });
});
