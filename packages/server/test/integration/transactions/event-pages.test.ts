import { type Event, readId, type Wallet } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

const service = await inspectSharedService();

interface Page {
  data: Event[];
  latest_sequence: number;
  scanned_to: number;
  has_more: boolean;
}

describe("the pages of the event log", () => {
  let api: ReturnType<typeof transactionsOf>;
  let tenantId: string;
  let transactionId: string;
  let walletId: string;
  const read = async (query: string) =>
    (await api.send("GET", `/v1/events?${query}`)).body as unknown as Page & { error?: { code: string } };
  const sequencesOf = async (query: string) => (await read(query)).data.map(({ sequence }) => sequence);
  /** Follows `scanned_to` to the end. */
  const readAll = async (query: string, continuation: "after" | "before") => {
    const found: number[] = [];
    let pages = 0;
    for (let position = ""; ; pages++) {
      const page = await read(`${query}${position}`);
      found.push(...page.data.map(({ sequence }) => sequence));
      if (!page.has_more) return { found, pages: pages + 1 };
      position = `&${continuation}=${page.scanned_to}`;
    }
  };

  beforeAll(async () => {
    const owner = await service.createTenant("1000");
    tenantId = readId("tnt", owner.tenantId) ?? "";
    api = transactionsOf(service, await service.token(owner));
    const wallets = (await api.send("GET", "/v1/wallets")).body as unknown as { data: Wallet[] };
    walletId = wallets.data.find(({ role }) => role === "settlement")?.id ?? "";
    for (let number = 0; number < 4; number++) {
      const { body } = await api.create({ reference: "r", asset: "USD", amount: "1" });
      await api.settled(body.id);
      transactionId = body.id;
      await api.send("POST", `/v1/wallets/${walletId}/${number % 2 === 0 ? "freeze" : "unfreeze"}`);
    }
  });

  it("say where the log ends, where the page ends, and whether there is more", async () => {
    const { data, latest_sequence: latest, ...end } = await read("");
    expect(data.map(({ sequence }) => sequence)).toEqual(Array.from({ length: latest }, (_, n) => n + 1));
    expect(end).toMatchObject({ scanned_to: latest, has_more: false });
    expect(await read("limit=2")).toMatchObject({ latest_sequence: latest, scanned_to: 2, has_more: true });
    expect(await read(`after=${latest}`)).toMatchObject({
      data: [],
      latest_sequence: latest,
      scanned_to: latest,
      has_more: false,
    });
    expect((await read(`after=${latest + 1}`)).error?.code).toBe("SEQUENCE_AHEAD");
    expect((await read(`after=${latest + 1}&kinds=wallet.updated`)).error?.code).toBe("SEQUENCE_AHEAD");
  });

  it("come newest first with `before` or `order`", async () => {
    const { latest_sequence: latest } = await read("limit=1");
    const all = Array.from({ length: latest }, (_, n) => latest - n);
    expect(await sequencesOf("order=desc")).toEqual(all);
    expect(await sequencesOf("before=4")).toEqual([3, 2, 1]);
    expect(await sequencesOf("before=4&order=asc")).toEqual([1, 2, 3]);
    expect(await sequencesOf("before=5&after=2")).toEqual([4, 3]);
    expect(await sequencesOf("before=0")).toEqual([]);
    expect((await readAll("order=desc&limit=3", "before")).found).toEqual(all);
  });

  it("have the kinds that were asked for", async () => {
    const { data } = await read("limit=200");
    const ofKind = (...kinds: string[]) =>
      data.filter(({ event }) => kinds.includes(event)).map(({ sequence }) => sequence);
    const wallets = ofKind("wallet.updated");
    expect(wallets.length).toBeGreaterThan(3);
    expect(await sequencesOf("kinds=wallet.updated")).toEqual(wallets);
    expect(await sequencesOf("kinds=wallet.updated&kinds=endpoint.disabled&order=desc")).toEqual(
      wallets.toReversed(),
    );
    const payments = ofKind("transaction.updated");
    expect((await readAll("kinds=transaction.updated&limit=2", "after")).found).toEqual(payments);
    expect(await sequencesOf("kinds=transaction.updated&kinds=wallet.updated")).toEqual(
      ofKind("transaction.updated", "wallet.updated"),
    );
    expect(await read("kinds=audit.checkpoint")).toMatchObject({ data: [], has_more: false });
  });

  it("have the events of one subject", async () => {
    const { data } = await read(`subject_id=${transactionId}`);
    expect(data.map((one) => one.data.transaction?.id)).toEqual([transactionId]);
    const frozen = await sequencesOf(`subject_id=${walletId}`);
    expect(frozen).toHaveLength(4);
    expect((await readAll(`subject_id=${walletId}&limit=1`, "after")).found).toEqual(frozen);
    expect((await readAll(`subject_id=${walletId}&order=desc&limit=1`, "before")).found).toEqual(
      frozen.toReversed(),
    );
    expect(await sequencesOf(`subject_id=${walletId}&kinds=transaction.updated`)).toEqual([]);
    // The sequence before and after each of its events, most of which are not its own.
    const { latest_sequence: latest } = await read("limit=1");
    for (let sequence = 0; sequence <= latest; sequence++) {
      expect(await sequencesOf(`subject_id=${walletId}&after=${sequence}`)).toEqual(
        frozen.filter((one) => one > sequence),
      );
      expect(await sequencesOf(`subject_id=${walletId}&before=${sequence}`)).toEqual(
        frozen.filter((one) => one < sequence).toReversed(),
      );
    }
    expect(await sequencesOf("subject_id=wlt_01h455vb4pex5vsknk084sn02q")).toEqual([]);
    for (const query of ["subject_id=x", "subject_id=cli_01h455vb4pex5vsknk084sn02q", "kinds=nothing"])
      expect((await api.send("GET", `/v1/events?${query}`)).status).toBe(400);
  });

  it("of a frequent kind that is rare here end at a bound, and the next page goes on", async () => {
    const { latest_sequence: latest } = await read("limit=1");
    const filled = 4500;
    await service.database.query(sql`
      WITH numbers AS (SELECT n FROM generate_series(1, ${filled}::int) n)
      INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, occurred_at)
      SELECT ${tenantId}, ${latest}::bigint + n, 'endpoint.disabled', gen_random_uuid(), 2, 'disabled', 'enabled', now() FROM numbers
    `);
    await service.database.query(
      sql`UPDATE event_sequences SET sequence = ${latest + filled} WHERE tenant_id = ${tenantId}`,
    );
    const payments = await sequencesOf(`kinds=transaction.updated&before=${latest + 1}&order=asc`);
    const { body } = await api.create({ reference: "late", asset: "USD", amount: "1" });
    await api.settled(body.id);
    const last = latest + filled + 1;
    const query = "kinds=transaction.updated&kinds=order.updated";
    expect(await readAll(query, "after")).toEqual({ found: [...payments, last], pages: 3 });
    expect(await readAll(`${query}&order=desc`, "before")).toEqual({
      found: [last, ...payments.toReversed()],
      pages: 3,
    });
    expect(await sequencesOf("order=desc&limit=1&kinds=wallet.updated")).toHaveLength(1);
  });
});
