import { generateKeyPairSync } from "node:crypto";
import { createBursar, isBursarError } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { sharedService } from "../../harness/service/shared-service.js";

const payment = { reference: "invoice-2041", asset: "USD", amount: "125.50" };

async function connect(usd = "1000") {
  const service = await sharedService();
  const tenant = await service.createTenant(usd);
  const { clientId, secret } = tenant;
  return {
    service,
    tenant,
    bursar: createBursar({ baseUrl: service.url, credentials: { clientId, secret } }),
  };
}

describe("the client and a service", () => {
  it("a payment is created once with its key, and waited for", async () => {
    const { bursar } = await connect();
    const created = await bursar.transactions.create(payment, { idempotencyKey: "invoice-2041" });
    expect(created.lastResponse).toMatchObject({
      status: 202,
      idempotencyKey: "invoice-2041",
      replayed: false,
    });
    const again = await bursar.transactions.create(payment, { idempotencyKey: "invoice-2041" });
    expect(again).toEqual(created);
    expect(again.lastResponse.replayed).toBe(true);
    const settled = await bursar.transactions.waitFor(created.id);
    expect(settled).toMatchObject({ state: "completed", amount: "125.5" });
  });

  it("a key signs in and signs every request of a client that must sign", async () => {
    const { service, tenant } = await connect();
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const keyId = await service.addKeyAsOperator(tenant, String(publicKey.export({ format: "jwk" }).x));
    await service.changeAsOperator(tenant, { require_signature: true });
    const pem = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
    const bursar = createBursar({
      baseUrl: service.url,
      credentials: { clientId: tenant.clientId, keyId, privateKey: pem },
    });
    const { id } = await bursar.transactions.create(payment);
    expect((await bursar.transactions.waitFor(id)).state).toBe("completed");
    expect((await bursar.me.get()).client.require_signature).toBe(true);
    const unsigned = createBursar({ baseUrl: service.url, credentials: () => bursar.tokens.current() });
    await expect(unsigned.me.get()).rejects.toMatchObject({ code: "SIGNATURE_REQUIRED", outcome: "refused" });
  });

  it("a token that was revoked is replaced", async () => {
    const { bursar } = await connect();
    const token = await bursar.tokens.current();
    await bursar.tokens.revoke(token);
    expect((await bursar.tokens.introspect(token)).active).toBe(false);
    await bursar.me.get();
    expect(await bursar.tokens.current()).not.toBe(token);
  });

  it("a refusal has its code, its fields and the id of the request", async () => {
    const { bursar } = await connect();
    const error: unknown = await bursar.transactions
      .create({ ...payment, amount: "many" })
      .catch((thrown: unknown) => thrown);
    if (!isBursarError(error, "INVALID_REQUEST")) throw error;
    expect(error).toMatchObject({ status: 400, outcome: "refused", attempts: 1 });
    expect(error.details[0]?.path).toBe("body.amount");
    expect(error.requestId).toMatch(/^req_/);
  });

  it("many payments are created in batches, each with its own result, and lists are read to their end", async () => {
    const { bursar } = await connect("5000");
    const items = Array.from({ length: 1201 }, (_, at) => ({
      reference: `invoice-${at}`,
      asset: at === 700 ? "UNKNOWN" : "USD",
      amount: "1",
      idempotency_key: `key-${at}`,
    }));
    const results = [];
    for await (const result of bursar.transactions.createMany(items)) results.push(result);
    expect(results.map(({ reference }) => reference)).toEqual(items.map(({ reference }) => reference));
    expect(results[700]).toMatchObject({
      status: "error",
      idempotencyKey: "key-700",
      error: { code: "ASSET_UNKNOWN", outcome: "refused" },
    });
    expect(results.filter(({ status }) => status === "accepted")).toHaveLength(1200);
    const references = new Set<string>();
    for await (const { reference } of bursar.transactions.list({ limit: 200 })) references.add(reference);
    expect(references.size).toBe(1200);
    const pages = [];
    for await (const page of bursar.transactions.list({ limit: 200 }).pages()) pages.push(page.data.length);
    expect(pages).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it("the log of events is read to its end", async () => {
    const { bursar } = await connect();
    const { id } = await bursar.transactions.create(payment);
    await bursar.transactions.waitFor(id);
    const states: string[] = [];
    for await (const event of bursar.events.list({ limit: 1 }))
      if (event.event === "transaction.updated") states.push(event.data.transaction.state);
    expect(states).toContain("completed");
  });

  it("waiting ends when its time does", async () => {
    const { bursar } = await connect();
    const { id } = await bursar.transactions.create(payment);
    await expect(bursar.transactions.waitFor(id, { until: () => false, waitMs: 50 })).rejects.toMatchObject({
      code: "TIMEOUT",
    });
  });
});
