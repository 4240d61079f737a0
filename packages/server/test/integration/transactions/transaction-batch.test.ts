import { beforeEach, describe, expect, it } from "vitest";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

const service = await inspectSharedService();

const three = { reference: "invoice-1", asset: "USD", amount: "125.50" };

describe("a batch of transactions", () => {
  let api: ReturnType<typeof transactionsOf>;
  beforeEach(async () => {
    api = transactionsOf(service, await service.token(await service.createTenant("1000")));
  });

  it("gives each item its own result, in order, and is not atomic", async () => {
    await api.create(three, "seen");
    const { status, body } = await api.send("POST", "/v1/transactions/batch", {
      transactions: [
        { idempotency_key: "new", ...three },
        { idempotency_key: "seen", ...three },
        { idempotency_key: "seen", ...three, amount: "1" },
        { idempotency_key: "bad", ...three, asset: "XYZ" },
        { ...three },
        "nonsense",
        { idempotency_key: "new", ...three },
      ],
    });
    const { data } = body as unknown as {
      data: {
        status: string;
        error?: { code: string; details?: { path: string }[] };
        transaction?: { id: string };
      }[];
    };
    expect(status).toBe(202);
    expect(data.map((result) => result.error?.code ?? result.status)).toEqual([
      "accepted",
      "replayed",
      "IDEMPOTENCY_KEY_REUSED",
      "ASSET_UNKNOWN",
      "INVALID_REQUEST",
      "INVALID_REQUEST",
      "replayed",
    ]);
    expect(data[0]?.transaction?.id).toBe(data[6]?.transaction?.id);
    expect(data[3]?.error?.details?.[0]?.path).toBe("body.transactions.3.asset");
    expect(data[4]?.error?.details?.[0]?.path).toBe("body.transactions.4.idempotency_key");
  });

  it("returns results for the other items if the database refuses one", async () => {
    await service.database.run(`
      CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poison'; END $$;
      CREATE TRIGGER refuse_poison BEFORE INSERT ON transactions FOR EACH ROW WHEN (NEW.reference = 'poison')
        EXECUTE FUNCTION refuse_poison()`);
    const items = ["good", "poison", "fine"].map((name) => ({
      ...three,
      idempotency_key: name,
      reference: name,
    }));
    const batch = async (transactions: object[]) => {
      const { status, body } = await api.send("POST", "/v1/transactions/batch", { transactions });
      const { data } = body as unknown as { data?: { status: string; error?: { code: string } }[] };
      return [status, ...(data ?? []).map((result) => result.error?.code ?? result.status)];
    };
    expect(await batch(items)).toEqual([202, "accepted", "INTERNAL", "accepted"]);
    expect(await batch(items)).toEqual([202, "replayed", "INTERNAL", "replayed"]);
    expect(await batch(items.slice(1, 2))).toEqual([500]);
  });

  it.each([[0], [1001]])("of %i items is refused", async (count) => {
    const transactions = Array.from({ length: count }, (_, index) => ({
      idempotency_key: `k${index}`,
      ...three,
    }));
    expect((await api.send("POST", "/v1/transactions/batch", { transactions })).status).toBe(400);
  });

  it("of a thousand items of over a hundred bytes each is accepted", async () => {
    const transactions = Array.from({ length: 1000 }, (_, index) => ({
      idempotency_key: `k${index}`,
      reference: "x".repeat(128),
      asset: "USD",
      amount: "0.01",
    }));
    const { status, body } = await api.send("POST", "/v1/transactions/batch", { transactions });
    const { data } = body as unknown as { data: { status: string }[] };
    expect([status, new Set(data.map((result) => result.status))]).toEqual([202, new Set(["accepted"])]);
  });
});
