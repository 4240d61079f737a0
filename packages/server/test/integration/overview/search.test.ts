import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { createObjects } from "../../harness/http/route-requests.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import type { TestClient } from "../../harness/service/test-service.js";

const service = await inspectSharedService();

interface Hit {
  object: string;
  id: string;
  match: string;
  label: string | null;
}

describe("search", () => {
  let owner: TestClient;
  let token: string;
  let objects: Record<string, string>;
  beforeAll(async () => {
    owner = await service.createTenant("1000");
    token = await service.token(owner);
    objects = await createObjects(service, token, owner.clientId);
  });

  const find = async (q: string, by = token) => {
    const answer = await service.call("GET", `/v1/search?q=${encodeURIComponent(q)}`, by);
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { data: Hit[] }).data;
  };
  const pay = async (reference: string, key = randomBytes(8).toString("hex"), headers = {}) => {
    const body = { reference, asset: "USD", amount: "1" };
    const answer = await service.call("POST", "/v1/transactions", token, body, {
      "idempotency-key": key,
      ...headers,
    });
    return ((await answer.json()) as { id: string }).id;
  };

  const kinds = {
    transactions: "transaction",
    wallets: "wallet",
    orders: "order",
    clients: "client",
    "change-requests": "change_request",
    destinations: "destination",
    "webhook-endpoints": "webhook_endpoint",
    "webhook-deliveries": "webhook_delivery",
  };

  it("finds every kind of object by its id, and nothing of another tenant", async () => {
    const other = await service.token(await service.createTenant());
    for (const [collection, object] of Object.entries(kinds)) {
      const id = objects[collection] ?? "";
      expect(await find(id)).toEqual(
        [{ object, id, match: "id", label: expect.anything() }].map(withAnyLabel),
      );
      expect(await find(id, other)).toEqual([]);
    }
  });

  it("looks only for what the token may read", async () => {
    const narrow = await service.token(owner, "wallets:read");
    for (const collection of Object.keys(kinds))
      expect((await find(objects[collection] ?? "", narrow)).length).toBe(collection === "wallets" ? 1 : 0);
    await pay("narrow-reference", "narrow-key");
    expect(await find("narrow-key", narrow)).toEqual([]);
    expect(await find("narrow-ref", narrow)).toEqual([]);
    expect((await find("narrow-key")).length).toBe(1);
  });

  it("finds by key, by request, by address and by the beginning of a reference", async () => {
    const id = await pay("invoice-2041", "search-key");
    expect(await find("search-key")).toEqual([
      { object: "transaction", id, match: "idempotency_key", label: "invoice-2041" },
    ]);
    expect(await find("invoice-20")).toEqual([
      { object: "transaction", id, match: "reference", label: "invoice-2041" },
    ]);
    expect(await find("nvoice-20")).toEqual([]);
    expect(await find(`0x${"1".repeat(40)}`)).toMatchObject([
      { object: "destination", id: objects["destinations"], match: "address", label: "matrix" },
    ]);
    await service.call(
      "POST",
      "/v1/clients",
      token,
      { name: "m", scopes: [] },
      { "x-request-id": "search-1" },
    );
    const [entry] = await eventually(
      () => find("search-1"),
      (hits) => hits.length > 0,
    );
    expect(entry).toMatchObject({ object: "audit_entry", match: "request_id", label: "client.create" });
  });

  it("takes every character for itself", async () => {
    const id = await pay("50%_off\\ é*");
    await pay("50 other");
    for (const q of ["50%", "50%_", "50%_off\\", "50%_off\\ é", "50%_off\\ é*"])
      expect((await find(q)).map((hit) => hit.id)).toEqual([id]);
    for (const q of ["%", "_", "50_", "*", "' OR true --", "50%\u{10ffff}", "\\"])
      expect(await find(q)).toEqual([]);
  });

  it("has at most 20 hits, and refuses what is too long or empty", async () => {
    const transactions = Array.from({ length: 30 }, (_, n) => {
      return { idempotency_key: `many-${n}`, reference: `many-${n}`, asset: "USD", amount: "1" };
    });
    await service.call("POST", "/v1/transactions/batch", token, { transactions });
    const hits = await find("many-");
    expect(hits.length).toBe(20);
    expect(new Set(hits.map(({ id }) => id)).size).toBe(20);
    // Exact matches come first, and are not repeated.
    const exact = await find("many-1");
    expect(exact[0]).toMatchObject({ match: "idempotency_key", label: "many-1" });
    expect(new Set(exact.map(({ id }) => id)).size).toBe(exact.length);
    for (const query of ["", "?q=", `?q=${"x".repeat(256)}`, "?q=a&q=b", "?q=a&limit=9"])
      expect((await service.call("GET", `/v1/search${query}`, token)).status).toBe(400);
  });
});

/** Some objects have no name. */
function withAnyLabel(hit: Omit<Hit, "label"> & { label: unknown }) {
  return hit.object === "order" ? { ...hit, label: null } : hit;
}
