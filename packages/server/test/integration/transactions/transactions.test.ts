import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

const service = await inspectSharedService();

const three = { reference: "invoice-1", asset: "USD", amount: "125.50" };

describe("transactions", () => {
  let api: ReturnType<typeof transactionsOf>;
  let clientId: string;
  beforeEach(async () => {
    const client = await service.createTenant("1000");
    clientId = client.clientId;
    api = transactionsOf(service, await service.token(client));
  });
  afterAll(async () => {
    const violated = (await auditLedger(service.database)).filter(({ violations }) => violations.length > 0);
    expect(violated).toEqual([]);
  });

  it("take the contract's three fields, answer 202 with the whole resource, and complete", async () => {
    const { status, headers, body } = await api.create(three);
    expect(status).toBe(202);
    expect(headers.get("location")).toBe(`/v1/transactions/${body.id}`);
    expect(headers.get("retry-after")).toBe("1");
    expect(body).toMatchObject({
      object: "transaction",
      kind: "transfer",
      fee: null,
      network: "book",
      created_by: clientId,
      reference: "invoice-1",
      asset: "USD",
      amount: "125.5",
      state: "accepted",
      version: 1,
      failure: null,
    });
    const done = await api.settled(body.id);
    expect(done).toMatchObject({ state: "completed", version: 2 });
    expect(done.history.map(({ state, version }) => [version, state])).toEqual([
      [1, "accepted"],
      [2, "completed"],
    ]);
    const book = { asset: "USD", held: "0", incoming: null, on_chain: null };
    expect(await api.balances()).toEqual({
      primary: { ...book, available: "874.5" },
      settlement: { ...book, available: "125.5" },
    });
  });

  it.each<[what: string, body: object, status: number, code: string, path: string]>([
    ["no reference", { asset: "USD", amount: "1" }, 400, "INVALID_REQUEST", "body.reference"],
    ["an empty reference", { ...three, reference: "" }, 400, "INVALID_REQUEST", "body.reference"],
    ["a long reference", { ...three, reference: "x".repeat(129) }, 400, "INVALID_REQUEST", "body.reference"],
    ["a number for an amount", { ...three, amount: 1 }, 400, "INVALID_REQUEST", "body.amount"],
    ["an amount of zero", { ...three, amount: "0.00" }, 400, "INVALID_REQUEST", "body.amount"],
    ["a negative amount", { ...three, amount: "-1" }, 400, "INVALID_REQUEST", "body.amount"],
    ["an exponent", { ...three, amount: "1e3" }, 400, "INVALID_REQUEST", "body.amount"],
    ["a very long amount", { ...three, amount: "9".repeat(50_000) }, 400, "INVALID_REQUEST", "body.amount"],
    ["too many decimals", { ...three, amount: "1.001" }, 422, "AMOUNT_PRECISION_EXCEEDED", "body.amount"],
    ["an unknown asset", { ...three, asset: "XYZ" }, 422, "ASSET_UNKNOWN", "body.asset"],
    [
      "an unknown wallet",
      { ...three, source: { wallet_id: "wlt_01h455vb4pex5vsknk084sn02q" } },
      422,
      "WALLET_UNKNOWN",
      "body.source.wallet_id",
    ],
    [
      "a malformed wallet id",
      { ...three, destination: { wallet_id: "x" } },
      422,
      "WALLET_UNKNOWN",
      "body.destination.wallet_id",
    ],
    [
      "an address on the book rail",
      { ...three, destination: { address: "0x00000000219ab540356cbb839cbe05303d7705fa" } },
      422,
      "ADDRESS_NOT_SUPPORTED",
      "body.destination.address",
    ],
    ["an empty destination", { ...three, destination: {} }, 400, "INVALID_REQUEST", "body.destination"],
    [
      "an address as the source",
      { ...three, source: { address: "0x00000000219ab540356cbb839cbe05303d7705fa" } },
      400,
      "INVALID_REQUEST",
      "body.source.wallet_id",
    ],
    ["an unknown field", { ...three, colour: "red" }, 400, "INVALID_REQUEST", "body.colour"],
    [
      "metadata that is not a string",
      { ...three, metadata: { a: 1 } },
      400,
      "INVALID_REQUEST",
      "body.metadata.a",
    ],
    [
      "too much metadata",
      { ...three, metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, ""])) },
      400,
      "INVALID_REQUEST",
      "body.metadata",
    ],
    ["a malformed time", { ...three, expires_at: "tomorrow" }, 400, "INVALID_REQUEST", "body.expires_at"],
    [
      "a leap second",
      { ...three, expires_at: "2026-12-31T23:59:60Z" },
      400,
      "INVALID_REQUEST",
      "body.expires_at",
    ],
  ])("refuse %s, and do not use up the key", async (_what, body, status, code, path) => {
    const key = `key-${path}-${code}`;
    const answer = await api.create(body, key);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    expect(answer.body.error?.details?.map((detail) => detail.path)).toContain(path);
    expect((await api.create(three, key)).status).toBe(202);
  });

  it("require an idempotency key", async () => {
    const answer = await api.send("POST", "/v1/transactions", three);
    expect([answer.status, answer.body.error?.code]).toEqual([400, "IDEMPOTENCY_KEY_MISSING"]);
  });

  it("return the original response to the same key and body, byte for byte, even after they are final", async () => {
    const first = await api.create(three, "once");
    await api.settled(first.body.id);
    const again = await api.create({ amount: "125.50", asset: "USD", reference: "invoice-1" }, '"once"');
    expect(again.text).toBe(first.text);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    const other = await api.create({ ...three, amount: "125.51" }, "once");
    expect([other.status, other.body.error?.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
  });

  it("fail if there are insufficient funds, and hold nothing", async () => {
    const { body } = await api.create({ ...three, amount: "1000.01" });
    expect(await api.settled(body.id)).toMatchObject({
      state: "failed",
      failure: { code: "INSUFFICIENT_FUNDS" },
    });
    expect((await api.balances())["primary"]).toMatchObject({ available: "1000", held: "0" });
  });

  it("fail if they expire before they are processed", async () => {
    const { body } = await api.create({ ...three, expires_at: "2020-01-01T00:00:00Z" });
    expect(await api.settled(body.id)).toMatchObject({ state: "failed", failure: { code: "EXPIRED" } });
  });

  it("store their metadata, and move funds between the wallets that they name", async () => {
    const wallet = (await api.send("POST", "/v1/wallets", { name: "payouts", purpose: "payout" }))
      .body as unknown as { id: string };
    const { body } = await api.create({
      ...three,
      destination: { wallet_id: wallet.id },
      metadata: { order: "42" },
    });
    expect(await api.settled(body.id)).toMatchObject({
      state: "completed",
      destination: { wallet_id: wallet.id },
      metadata: { order: "42" },
    });
  });

  it("accept metadata keys of 1 to 64 characters, and refuse values that are not strings", async () => {
    const names = ["a\nb", "\u2028", "é".repeat(64)];
    const metadata = Object.fromEntries(names.map((name) => [name, "kept"]));
    const { body } = await api.create({ ...three, metadata });
    expect(body).toMatchObject({ metadata });
    await api.settled(body.id);
    for (let times = 0; times < 3; times++)
      expect((await api.read(body.id)).body).toMatchObject({ metadata });
    for (const refused of [{ "a\nb": null }, { "a\nb": { x: [1] } }, { "": "x" }, { ["k".repeat(65)]: "x" }])
      expect((await api.create({ ...three, metadata: refused as never })).status).toBe(400);
  });

  it("refuse times outside the supported range, and NUL characters in a URL", async () => {
    for (const expires_at of ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"])
      expect((await api.create({ ...three, expires_at })).status).toBe(400);
    expect((await api.send("GET", "/v1/transactions?reference=%00")).status).toBe(400);
  });

  it("accept an asset by its code or its CAIP-19 identifier", async () => {
    const { data } = (await api.send("GET", "/v1/assets")).body as unknown as {
      data: { code: string; caip19: string | null }[];
    };
    expect(data.map(({ code }) => code)).toEqual(["USD", "ETH", "USDC"]);
    const { body } = await api.create({
      ...three,
      asset: data[1]?.caip19 ?? "",
      amount: "0.000000000000000001",
    });
    expect(body).toMatchObject({ asset: "ETH", amount: "0.000000000000000001" });
    const listed = await api.send(
      "GET",
      `/v1/transactions?asset=${encodeURIComponent(data[1]?.caip19 ?? "")}`,
    );
    expect(listed.body).toMatchObject({ data: [{ id: body.id }] });
  });

  it("have a table of their states", async () => {
    const { data } = (await api.send("GET", "/v1/transaction-states")).body as unknown as {
      data: { state: string; next: string[]; final: boolean }[];
    };
    expect(data.find(({ state }) => state === "confirming")).toMatchObject({
      final: false,
      next: ["completed", "failed", "broadcast"],
    });
  });

  it("log every change once, in order, with the transaction as of then", async () => {
    const { body } = await api.create(three);
    await api.settled(body.id);
    const { data } = (await api.send("GET", "/v1/events?after=0")).body as unknown as {
      data: {
        sequence: number;
        event: string;
        data: { previous_state: string; transaction: { id: string; version: number; state: string } };
      }[];
    };
    expect(data).toMatchObject([
      {
        sequence: 1,
        event: "transaction.updated",
        data: { previous_state: "accepted", transaction: { id: body.id, version: 2, state: "completed" } },
      },
    ]);
    expect((await api.send("GET", "/v1/events?after=1")).body).toMatchObject({ data: [] });
  });
});
