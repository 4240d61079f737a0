import { beforeEach, describe, expect, it } from "vitest";
import { sharedService } from "../../harness/service/shared-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

const service = await sharedService();

const three = { reference: "invoice-1", asset: "USD", amount: "125.50" };

describe("reading transactions", () => {
  let api: ReturnType<typeof transactionsOf>;
  beforeEach(async () => {
    api = transactionsOf(service, await service.token(await service.createTenant("1000")));
  });

  it("answers 304 if the version is unchanged, and delays the response if asked to wait", async () => {
    const { body, headers } = await api.create(three);
    const done = await api.read(body.id, { "if-none-match": headers.get("etag") ?? "", prefer: "wait=10" });
    expect(done.body).toMatchObject({ state: "completed", version: 2 });
    expect(done.headers.get("preference-applied")).toBe("wait=10");
    const tag = done.headers.get("etag") ?? "";
    expect(tag).toBe(`W/"${body.id}-2"`);
    expect((await api.read(body.id, { "if-none-match": tag })).status).toBe(304);
    expect((await api.read(body.id, { "if-none-match": tag, prefer: "wait=1" })).status).toBe(304);
    expect((await api.read(body.id, { "if-none-match": 'W/"other-2"' })).status).toBe(200);
    expect((await api.read(body.id, { "if-none-match": `W/"other-2", ${tag}` })).status).toBe(304);
    expect((await api.read(body.id, { "if-none-match": "*" })).status).toBe(304);
    const waited = await api.read(body.id, { "if-none-match": tag, prefer: 'return=minimal, Wait="1"' });
    expect([waited.status, waited.headers.get("preference-applied")]).toEqual([304, "wait=1"]);
  });

  it.each(["tx_01h455vb4pex5vsknk084sn02q", "x", "wlt_01h455vb4pex5vsknk084sn02q"])(
    "does not find %s",
    async (id) => {
      const answer = await api.read(id);
      expect([answer.status, answer.body.error?.code]).toEqual([404, "TRANSACTION_NOT_FOUND"]);
    },
  );

  it("lists what a transaction has moved in the ledger, to its own tenant", async () => {
    const { body } = await api.create(three);
    const done = await api.settled(body.id);
    const path = `/v1/transactions/${body.id}/entries`;
    const [debit, credit] = [done.source, done.destination].map((party) => ({ kind: "wallet", ...party }));
    const entry = { object: "ledger_entry", line: 1, debit, credit, asset: "USD", amount: "125.5" };
    expect((await api.send("GET", path)).body).toEqual({ data: [entry] });
    const others = transactionsOf(service, await service.token(await service.createTenant("1000")));
    expect((await others.send("GET", path)).status).toBe(404);
  });

  it("says which rule has allowed it", async () => {
    const { body } = await api.create(three);
    const { policy_rule } = await api.settled(body.id);
    expect(policy_rule).toBe(body.policy_rule);
    expect(policy_rule).toEqual(expect.any(String));
  });

  it("lists newest first, by every filter, a page at a time", async () => {
    const made: string[] = [];
    for (const [index, asset] of ["USD", "USD", "ETH", "USD"].entries()) {
      const { body } = await api.create({ reference: `r${index % 2}`, asset, amount: "1" });
      made.push(body.id);
      await api.settled(body.id);
    }
    const list = async (query: string) => {
      const { data, next_cursor } = (await api.send("GET", `/v1/transactions?${query}`)).body as unknown as {
        data: { id: string }[];
        next_cursor: string | null;
      };
      return { ids: data.map(({ id }) => made.indexOf(id)), next_cursor };
    };
    expect((await list("")).ids).toEqual([3, 2, 1, 0]);
    expect((await list("state=completed")).ids).toEqual([3, 1, 0]);
    expect((await list("state=failed")).ids).toEqual([2]);
    expect((await list("state=accepted")).ids).toEqual([]);
    expect((await list("reference=r1")).ids).toEqual([3, 1]);
    expect((await list("asset=ETH")).ids).toEqual([2]);
    const { body } = await api.read(made[1] ?? "");
    const [source, destination] = [body.source, body.destination] as { wallet_id: string }[];
    expect((await list(`created_after=${body.created_at}`)).ids).toEqual([3, 2, 1]);
    expect((await list(`created_before=${body.created_at}`)).ids).toEqual([0]);
    expect((await list(`wallet_id=${source?.wallet_id}&asset=USD&state=completed`)).ids).toEqual([3, 1, 0]);
    const wallet = `wallet_id=${source?.wallet_id}`;
    expect((await list(`${wallet}&state=failed`)).ids).toEqual([2]);
    expect((await list(`${wallet}&state=accepted`)).ids).toEqual([]);
    expect((await list(`${wallet}&reference=r0&state=completed`)).ids).toEqual([0]);
    expect((await list(`wallet_id=${destination?.wallet_id}&limit=2`)).ids).toEqual([3, 2]);
    expect((await list("reference=r0&state=failed")).ids).toEqual([2]);
    expect((await list("asset=USD&state=failed")).ids).toEqual([]);
    expect((await list(`state=completed&created_before=${body.created_at}`)).ids).toEqual([0]);
    expect((await list("state=failed&state=completed")).ids).toEqual([3, 2, 1, 0]);
    expect((await list("state=failed&state=accepted&state=rejected&state=cancelled")).ids).toEqual([2]);
    expect((await list(`${wallet}&state=failed&state=cancelled`)).ids).toEqual([2]);
    expect((await list("state=accepted&state=processing")).ids).toEqual([]);
    const first = await list("limit=3");
    expect([first.ids, (await list(`limit=3&cursor=${first.next_cursor}`)).ids]).toEqual([[3, 2, 1], [0]]);
  });

  it("finds a transaction by its idempotency key, and a deposit by its own", async () => {
    const { body } = await api.create(three, "mine/7+8");
    await api.create(three, "another");
    const find = async (query: string, of = api) => {
      const { status, body: page } = await of.send("GET", `/v1/transactions?${query}`);
      return [status, (page as unknown as { data: { id: string }[] }).data.map(({ id }) => id)];
    };
    const key = encodeURIComponent("mine/7+8");
    expect(await find(`idempotency_key=${key}`)).toEqual([200, [body.id]]);
    expect(await find("idempotency_key=unknown")).toEqual([200, []]);
    await api.settled(body.id);
    expect(await find(`idempotency_key=${key}&state=failed&reference=invoice-1`)).toEqual([200, []]);
    expect(await find(`idempotency_key=${key}&state=completed&reference=invoice-1`)).toEqual([
      200,
      [body.id],
    ]);
    const other = transactionsOf(service, await service.token(await service.createTenant("1000")));
    expect(await find(`idempotency_key=${key}`, other)).toEqual([200, []]);
  });

  it.each([
    ["state=nothing", "query.state.0"],
    ["state=failed&state=failed", "query.state"],
    ["state=", "query.state.0"],
    ["idempotency_key=", "query.idempotency_key"],
    ["limit=1&limit=2", "query.limit"],
  ])("refuses %s", async (query, path) => {
    const { status, body } = await api.send("GET", `/v1/transactions?${query}`);
    expect([status, body.error?.details?.map((detail) => detail.path)]).toEqual([400, [path]]);
  });
});
