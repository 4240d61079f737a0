import { beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../../src/http/api.js";
import { bodyOf, createObjects, unknownIds } from "../../harness/http/route-requests.js";
import { sharedService } from "../../harness/service/shared-service.js";
import type { TestClient } from "../../harness/service/test-service.js";

const service = await sharedService();

/**
 * Two tenants, and every way except the path to name an object of the other: query parameters, body fields, cursors, ETags and idempotency
 * keys. An object of another tenant must be indistinguishable from one that does not exist. Both take the same time, because every
 * statement selects by tenant and id together and finds no row in either case.
 */
const routeOf = (operationId: string) => {
  const route = listRoutes({} as never, "").find((candidate) => candidate.operationId === operationId);
  if (route === undefined) throw new Error(`there is no route ${operationId}`);
  return route;
};

type Json = Record<string, unknown>;

describe("an object of another tenant", () => {
  let owner: TestClient;
  let ownerToken: string;
  let strangerToken: string;
  let foreign: Record<string, string>;

  beforeAll(async () => {
    owner = await service.createTenant("1000");
    const stranger = await service.createTenant("1000");
    ownerToken = await service.token(owner);
    strangerToken = await service.token(stranger);
    foreign = await createObjects(service, ownerToken, owner.clientId);
    await createObjects(service, strangerToken, stranger.clientId);
    for (const [token, name] of [
      [ownerToken, "owner"],
      [strangerToken, "stranger"],
    ] as const) {
      for (const key of ["a", "b"]) {
        const payment = { reference: name, asset: "USD", amount: "1" };
        await service.call("POST", "/v1/transactions", token, payment, { "idempotency-key": key });
        await service.call("POST", "/v1/clients", token, { name: `${name} ${key}`, scopes: [] });
        const address = `0x${(key === "a" ? "2" : "3").repeat(40)}`;
        await service.call("POST", "/v1/destinations", token, { label: name, network: "eip155:1", address });
      }
    }
  });

  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await service.call(method, path, strangerToken, body, headers);
    const answer = (await response.json()) as Json & { error?: Json };
    const { request_id: _, ...error } = answer.error ?? {};
    return { status: response.status, headers: response.headers, answer, error };
  };
  const withKey = (key: string) => ({ "idempotency-key": key });

  const payment = (side: string, id: string) => ({
    reference: "a",
    asset: "USD",
    amount: "1",
    [side]: { wallet_id: id },
  });
  const rule = (when: Json) => ({
    rules: [{ name: "a", when, action: "reject", reason: "a" }],
    default: { action: "allow" },
  });

  it.each<
    [
      what: string,
      send: (ids: Record<string, string>) => Promise<{ status: number; answer: Json; error: Json }>,
    ]
  >([
    ["the filter of a list", ({ wallets }) => ask("GET", `/v1/transactions?wallet_id=${wallets}`)],
    [
      "a source",
      ({ wallets = "" }) => ask("POST", "/v1/transactions", payment("source", wallets), withKey("s")),
    ],
    [
      "a destination",
      ({ wallets = "" }) => ask("POST", "/v1/transactions", payment("destination", wallets), withKey("d")),
    ],
    [
      "an item of a batch",
      async ({ wallets = "" }) => {
        const items = [{ ...payment("source", wallets), idempotency_key: "batch" }];
        const { answer, ...rest } = await ask("POST", "/v1/transactions/batch", { transactions: items });
        const [result] = answer["data"] as [{ error: Json }];
        const { request_id: _, ...error } = result.error;
        return { ...rest, answer: {}, error };
      },
    ],
    [
      "a policy evaluation",
      ({ wallets = "" }) => ask("POST", "/v1/policy/evaluate", { transaction: payment("source", wallets) }),
    ],
    [
      "a wallet of a policy",
      ({ wallets }) =>
        ask("PUT", "/v1/policy", rule({ sources: { wallets: [wallets] } }), { "if-match": '"1"' }),
    ],
    [
      "a client of a policy",
      ({ clients }) => ask("PUT", "/v1/policy", rule({ clients: [clients] }), { "if-match": '"1"' }),
    ],
  ])("is treated as missing in %s", async (_what, send) => {
    const [seen, missing] = [await send(foreign), await send(unknownIds)];
    expect(seen.status).toBe(missing.status);
    expect(seen.error).toEqual(missing.error);
    if (seen.status === 200) expect(seen.answer).toEqual(missing.answer);
    else expect(seen.error).not.toEqual({});
  });

  it.each(["transactions", "wallets", "clients", "destinations", "audit"])(
    "is not reached by a cursor of another tenant's list: %s",
    async (list) => {
      const idsOf = (page: Json) => (page["data"] as Json[]).map((item) => item["id"] ?? item["hash"]);
      const first = (await (await service.call("GET", `/v1/${list}?limit=1`, ownerToken)).json()) as Json;
      const all = (await (await service.call("GET", `/v1/${list}?limit=200`, ownerToken)).json()) as Json;
      expect(first["next_cursor"]).toEqual(expect.any(String));
      const { status, answer } = await ask("GET", `/v1/${list}?limit=200&cursor=${first["next_cursor"]}`);
      const own = (await ask("GET", `/v1/${list}?limit=200`)).answer;
      expect(status).toBe(200);
      expect(idsOf(own).length).toBeGreaterThan(0);
      expect(idsOf(all).filter((id) => idsOf(answer).includes(id) || idsOf(own).includes(id))).toEqual([]);
    },
  );

  it("is not confirmed by its ETag", async () => {
    const path = `/v1/transactions/${foreign["transactions"]}`;
    const tag = (await service.call("GET", path, ownerToken)).headers.get("etag") ?? "";
    expect(tag).not.toBe("");
    expect((await ask("GET", path, undefined, { "if-none-match": tag })).status).toBe(404);
    expect((await ask("GET", path, undefined, { "if-none-match": tag, prefer: "wait=5" })).status).toBe(404);
  });

  it("is not changed by an ETag that both tenants have", async () => {
    const before = await (await service.call("GET", "/v1/policy", ownerToken)).text();
    const tag = (await service.call("GET", "/v1/policy", strangerToken)).headers.get("etag") ?? "";
    const put = await ask("PUT", "/v1/policy", bodyOf(routeOf("replacePolicy")), { "if-match": tag });
    expect(put.status).toBe(200);
    expect(await (await service.call("GET", "/v1/policy", ownerToken)).text()).toBe(before);
  });

  it.each([
    ["/v1/transactions", { reference: "one", asset: "USD", amount: "1" }, { reference: "two" }],
    ["/v1/wallets", { name: "one", purpose: "payout" }, { name: "two" }],
    ["/v1/clients", { name: "one", scopes: [] }, { name: "two" }],
    [
      "/v1/destinations",
      { label: "one", network: "eip155:1", address: `0x${"4".repeat(40)}` },
      { label: "two" },
    ],
  ])("does not share its idempotency key: %s", async (path, body, change) => {
    const first = await service.call("POST", path, ownerToken, body, withKey("the-same"));
    const id = ((await first.json()) as Json)["id"];
    expect(id).toEqual(expect.any(String));
    // Another body, so that a key of another tenant would be reported as reused.
    const { status, headers, answer } = await ask("POST", path, { ...body, ...change }, withKey("the-same"));
    expect([status, headers.get("idempotent-replayed")]).toEqual([first.status, null]);
    expect(answer["id"]).not.toBe(id);
  });

  it("is in no event", async () => {
    const { answer } = await ask("GET", "/v1/events?limit=200");
    expect(JSON.stringify(answer)).not.toContain(foreign["transactions"]);
    expect((answer["data"] as unknown[]).length).toBeGreaterThan(0);
  });

  it("is not found by a sequence beyond the range of the database", async () => {
    for (const after of ["9007199254740992", "1e21", "-1"])
      expect((await ask("GET", `/v1/events?after=${after}`)).status).toBe(400);
  });
});
