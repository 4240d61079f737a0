import { parseAmount, tradingPolicy } from "@bursar/domain";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLogReaderStore } from "../../../src/store/overview/log-reader-store.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";
import { deposit } from "../../harness/transactions/deposit.js";

interface Entry {
  sequence: number;
  line: number;
  amount: string;
  balance: string;
  cause: string;
  cause_id: string;
  reference: string | null;
}
interface Lag {
  events: number;
  seconds: number;
}

describe("statements and sums", () => {
  let service: TestService;
  let owner: TestClient;
  let token: string;
  let wallets: { primary: string; settlement: string };
  beforeAll(async () => {
    service = await startTestService({});
    owner = await service.createTenant();
    token = await service.token(owner);
    const { data } = await get<{ data: { id: string; role: string }[] }>("/v1/wallets");
    const byRole = (role: string) => data.find((wallet) => wallet.role === role)?.id ?? "";
    wallets = { primary: byRole("primary"), settlement: byRole("settlement") };
    await send("PUT", "/v1/policy", tradingPolicy, { "if-match": '"0"' });
    await deposit(service, owner, "1000");
    await deposit(service, owner, "10", "ETH");
    for (const key of ["a", "b", "c"]) await pay(key, "100.25");
    await pay("too much", "5000");
    await caughtUp();
  });
  afterAll(() => service.stop());

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.call(method, path, token, body, headers);
  const get = async <Body>(path: string, by = token) => {
    const answer = await service.call("GET", path, by);
    expect([path, answer.status]).toEqual([path, 200]);
    return (await answer.json()) as Body;
  };
  const pay = async (key: string, amount: string) => {
    const body = { reference: key, asset: "USD", amount };
    const answer = await send("POST", "/v1/transactions", body, {
      "idempotency-key": key.replace(" ", "-"),
    });
    const { id } = (await answer.json()) as { id: string };
    await eventually(
      () => get<{ state: string }>(`/v1/transactions/${id}`),
      ({ state }) => state === "completed" || state === "failed",
    );
    return id;
  };
  const statement = (wallet: string, asset: string, more = "") =>
    get<{ data: Entry[]; next_cursor: string | null; lag: Lag }>(
      `/v1/wallets/${wallet}/entries?asset=${asset}${more}`,
    );
  const caughtUp = () =>
    eventually(
      () => get<{ lag: Lag }>("/v1/overview"),
      ({ lag }) => lag.events === 0,
    );
  /** Every wallet's last entry says what the ledger says. */
  const expectBooksEqual = async (asset: string) => {
    for (const wallet of Object.values(wallets)) {
      const { balances } = await get<{ balances: { asset: string; available: string; held: string }[] }>(
        `/v1/wallets/${wallet}`,
      );
      const own = balances.find((balance) => balance.asset === asset);
      const units = (text = "0") => (text === "0" ? 0n : (parseAmount(text, 18) as bigint));
      const [last] = (await statement(wallet, asset)).data;
      expect(units(last?.balance)).toBe(units(own?.available) + units(own?.held));
    }
  };

  it("list every change of a wallet with its cause and the balance after it", async () => {
    const { data, lag } = await statement(wallets.primary, "USD");
    expect(data.map(({ reference }) => reference)).toEqual(["c", "b", "a", expect.any(String)]);
    expect(data.map(({ amount, balance }) => [amount, balance])).toEqual([
      ["-100.25", "699.25"],
      ["-100.25", "799.5"],
      ["-100.25", "899.75"],
      ["1000", "1000"],
    ]);
    expect(lag).toEqual({ events: 0, seconds: 0 });
    for (const { cause, cause_id } of data) {
      expect(cause).toBe("transaction");
      expect((await send("GET", `/v1/transactions/${cause_id}`)).status).toBe(200);
    }
    expect((await statement(wallets.settlement, "USD")).data[0]).toMatchObject({
      amount: "100.25",
      balance: "300.75",
    });
    await expectBooksEqual("USD");
  });

  it("are paged, and hide from other tenants", async () => {
    const all = (await statement(wallets.primary, "USD")).data;
    const paged: Entry[] = [];
    let more = "";
    for (;;) {
      const page = await statement(wallets.primary, "USD", `&limit=1${more}`);
      paged.push(...page.data);
      if (page.next_cursor === null) break;
      more = `&cursor=${page.next_cursor}`;
    }
    expect(paged).toEqual(all);
    expect((await statement(wallets.primary, "nothing")).data).toEqual([]);
    const stranger = await service.token(await service.createTenant());
    for (const part of ["entries", "history"]) {
      const path = `/v1/wallets/${wallets.primary}/${part}?asset=USD`;
      expect((await service.call("GET", path, stranger)).status).toBe(404);
    }
    expect(await get("/v1/overview", stranger)).toMatchObject({ open: [], periods: [] });
    for (const query of ["", "?asset=USD&cursor=x", "?asset=USD&limit=9999"])
      expect((await send("GET", `/v1/wallets/${wallets.primary}/entries${query}`)).status).toBe(400);
  });

  it("are CSV if that is asked for, a page at a time", async () => {
    const path = `/v1/wallets/${wallets.primary}/entries?asset=USD&limit=3`;
    const csv = async (more = "") =>
      await service.call("GET", path + more, token, undefined, { accept: "text/csv" });
    const first = await csv();
    expect(first.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    const second = await csv(`&cursor=${first.headers.get("next-cursor")}`);
    expect(second.headers.get("next-cursor")).toBeNull();
    const lines = [
      ...(await first.text()).trimEnd().split("\r\n"),
      ...(await second.text()).trimEnd().split("\r\n"),
    ];
    const { data } = await statement(wallets.primary, "USD");
    const shown = data.map((entry) => {
      const { sequence, line, occurred_at, asset, amount, balance, cause, cause_id, reference } =
        entry as never as Record<string, string>;
      return [sequence, line, occurred_at, asset, amount, balance, cause, cause_id, reference].join(",");
    });
    const head = "sequence,line,occurred_at,asset,amount,balance,cause,cause_id,reference";
    expect(lines).toEqual([head, ...shown.slice(0, 3), head, ...shown.slice(3)]);
    expect(lines[1]).toContain(",USD,-100.25,699.25,transaction,tx_");
  });

  it("show balances over time, and counts and sums by state", async () => {
    for (const period of ["hour", "day"]) {
      const { data } = await get<{ data: { received: string; sent: string; balance: string }[] }>(
        `/v1/wallets/${wallets.primary}/history?asset=USD&period=${period}`,
      );
      const received = data.reduce((sum, point) => sum + Number(point.received), 0);
      const sent = data.reduce((sum, point) => sum + Number(point.sent), 0);
      expect([received, sent, data.at(-1)?.balance]).toEqual([1000, 300.75, "699.25"]);
    }
    const past = `/v1/wallets/${wallets.primary}/history?asset=USD&to=2020-01-01T00:00:00Z`;
    expect(await get(past)).toMatchObject({ data: [] });
    const { periods } = await get<{ periods: { state: string; count: number; amount: string }[] }>(
      "/v1/overview?asset=USD",
    );
    const countOf = (wanted: string) =>
      periods.filter(({ state }) => state === wanted).reduce((sum, { count }) => sum + count, 0);
    // Three payments and the deposit.
    expect([countOf("completed"), countOf("failed")]).toEqual([4, 1]);
  });

  it("follow what orders trade, with their fees", async () => {
    const buyer = await service.createTenant();
    const before = (await statement(wallets.primary, "ETH")).data.length;
    const sale = { market: "ETH-USD", side: "sell", price: "100", size: "1" };
    expect((await send("POST", "/v1/orders", sale, { "idempotency-key": "sell" })).status).toBe(202);
    const buyerToken = await service.token(buyer);
    await service.fund(buyer, "USD", "1000");
    await service.call("PUT", "/v1/policy", buyerToken, tradingPolicy, { "if-match": '"0"' });
    for (const [key, size] of [
      ["buy-1", "0.25"],
      ["buy-2", "0.75"],
    ]) {
      const body = { market: "ETH-USD", side: "buy", price: "100", size };
      const answer = await service.call("POST", "/v1/orders", buyerToken, body, {
        "idempotency-key": key ?? "",
      });
      expect(answer.status).toBe(202);
    }
    const { data } = await eventually(
      () => statement(wallets.primary, "ETH"),
      (page) => page.data[0]?.balance === "9",
    );
    expect(data.length).toBeGreaterThan(before);
    expect(data[0]).toMatchObject({ cause: "order", cause_id: expect.stringMatching(/^ord_/) });
    await caughtUp();
    await expectBooksEqual("ETH");
    await expectBooksEqual("USD");
  });

  it("count each event once, also if several read at the same time, and follow a log from its beginning", async () => {
    const tenantId = readId("tnt", owner.tenantId) ?? "";
    const all = (await statement(wallets.primary, "USD")).data;
    // As before the first start of a version that has the reader.
    await service.database.run(`
      BEGIN; DELETE FROM log_positions; DELETE FROM wallet_entries; DELETE FROM wallet_periods; DELETE FROM transaction_periods; COMMIT`);
    const store = createLogReaderStore(service.database);
    for (let hasMore = true; hasMore; )
      hasMore = (await Promise.all([1, 2, 3].map(() => store.readSome([tenantId], 2)))).flat().length > 0;
    await caughtUp();
    expect((await statement(wallets.primary, "USD")).data).toEqual(all);
    await expectBooksEqual("USD");
  });
});
