import type { DeltaMessage, SnapshotMessage, Trade } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { createLocalBook } from "../../harness/markets/local-book.js";
import { createRandomDeeds } from "../../harness/markets/random-orders.js";
import { createTrader, type Trader, tradingAs } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { openStream } from "../../harness/stream/stream-client.js";

/** The number of book changes that the clients must receive. `faults/stream/stream-deltas.test.ts` uses many more. */
const deltasWanted = 150;

/** Two services share the database. Clients follow a market at either one, and are disconnected repeatedly. */
describe("a market on the stream", () => {
  let first: TestService;
  let second: TestService;
  const traders: Trader[] = [];
  beforeAll(async () => {
    first = await startTestService();
    second = await first.another();
    for (let index = 0; index < 4; index++) {
      const trader = await createTrader(first, { USD: "10000000", ETH: "100000" });
      traders.push(index % 2 === 0 ? trader : await tradingAs(second, trader.owner));
    }
  });
  afterAll(async () => {
    await second.stop();
    await first.stop();
  });

  it("equals the server's book at every step and has every trade once, across disconnects and resumes at either service", async () => {
    const load = { isOn: true };
    const acting = traders.map((trader, index) => act(trader, createRandomDeeds(index), load));
    const books = [createLocalBook(), createLocalBook()];
    const trades = [new Set<number>(), new Set<number>()];
    const following = books.map((book, index) => follow(book, trades[index] as Set<number>, index, load));
    await eventually(
      () => Math.min(...books.map((book) => book.counts().deltas)),
      (count) => count >= deltasWanted,
      220_000,
    );
    load.isOn = false;
    await Promise.all(acting);
    await Promise.all(following);
    const [trader] = traders as [Trader];
    for (const book of books) {
      expect(book.faults).toEqual([]);
      expect(book.counts().snapshots).toBeLessThan(book.counts().deltas);
    }
    const shown = await eventually(
      () => trader.book("?depth=1000"),
      ({ sequence }) => sequence >= Math.max(...books.map((book) => book.sequence() ?? 0)),
    );
    for (const book of books.filter((one) => one.sequence() === shown.sequence))
      expect([book.levels("bids"), book.levels("asks")]).toEqual([shown.bids, shown.asks]);
    // No trade is missing between the first and the last that a client received; a repeat would have thrown.
    for (const seen of trades) {
      const sequences = [...seen];
      expect(sequences.length).toBeGreaterThan(10);
      expect(sequences).toEqual(sequences.map((_, index) => (sequences[0] ?? 0) + index));
    }
  });

  it("starts with the current book, and resumes from a client's last sequence", async () => {
    const [trader] = traders as [Trader];
    const stream = await openStream(first.url, { token: trader.token });
    stream.send({ type: "subscribe", channel: "orderbook:USDC-USD" });
    expect(await stream.next("subscribed")).toMatchObject({ recovered: true, sequence: 0 });
    expect(await stream.next("snapshot")).toMatchObject({
      market: "USDC-USD",
      bids: [],
      asks: [],
      source: "bursar",
    });
    await trader.placed({ market: "USDC-USD", side: "buy", price: "0.9", size: "100" });
    const delta = await stream.next("delta");
    expect(delta).toMatchObject({ previous_sequence: 0, bids: [["0.9000", "100"]], asks: [] });
    stream.send({ type: "unsubscribe", channel: "orderbook:USDC-USD" });
    await stream.next("unsubscribed");
    stream.send({ type: "subscribe", channel: "orderbook:USDC-USD", since: 0 });
    expect(await stream.next("subscribed")).toMatchObject({ recovered: true, sequence: 0 });
    expect(await stream.next("delta")).toEqual(delta);
    stream.send({ type: "subscribe", channel: "orderbook:ETH-EUR", id: "a" });
    expect(await stream.next("error")).toMatchObject({ id: "a", error: { code: "MARKET_NOT_FOUND" } });
    stream.send({ type: "subscribe", channel: "trades:USDC-USD", since: 999_999, id: "b" });
    expect(await stream.next("error")).toMatchObject({ id: "b", error: { code: "SEQUENCE_AHEAD" } });
    const narrow = await openStream(first.url, { token: await first.token(trader.owner, "events:read") });
    narrow.send({ type: "subscribe", channel: "orderbook:USDC-USD" });
    expect(await narrow.next("error")).toMatchObject({ error: { code: "INSUFFICIENT_SCOPE" } });
    const auditor = await first.token(trader.owner, "audit:read");
    const refused = {
      action: "subscribe on /v1/stream",
      object: "orderbook:USDC-USD",
      code: "INSUFFICIENT_SCOPE",
      client_id: trader.owner.clientId,
    };
    await eventually(
      async () => (await (await first.call("GET", "/v1/audit", auditor)).json()) as { data: object[] },
      ({ data }) => data.some((entry) => JSON.stringify({ ...entry, ...refused }) === JSON.stringify(entry)),
    );
    for (const { ws } of [stream, narrow]) ws.terminate();
  });

  it("has the best 1000 levels of each side, at every step of a deeper book", async () => {
    const [trader] = traders as [Trader];
    const levels = 1030;
    // Prices far above all others, so that they do not match.
    const place = (index: number) =>
      eventually(
        () => trader.place({ side: "sell", price: String(2000 + index), size: "0.01" }, `deep-${index}`),
        ({ status }) => status === 202,
      );
    const stream = await openStream(first.url, { token: trader.token });
    const book = createLocalBook();
    stream.ws.on("message", (data) => {
      const message = JSON.parse(String(data));
      if (message.type === "snapshot" || message.type === "delta") book.take(message);
    });
    stream.send({ type: "subscribe", channel: "orderbook:ETH-USD" });
    const ids: string[] = [];
    for (let index = 0; index < levels; index += 50)
      for (const { body } of await Promise.all(
        Array.from({ length: 50 }, (_, ahead) => place(index + ahead)),
      ))
        ids.push(body.id);
    const isTheBook = async () => {
      const shown = await trader.book("?depth=1000");
      return (
        shown.sequence === book.sequence() &&
        JSON.stringify([shown.bids, shown.asks]) ===
          JSON.stringify([book.levels("bids"), book.levels("asks")])
      );
    };
    for (const id of ids.slice(-50)) await trader.until(id, ({ state }) => state === "open");
    await eventually(isTheBook, Boolean);
    expect(book.levels("asks")).toHaveLength(1000);
    // Levels that move into the best 1000 are published.
    for (const id of ids.slice(0, 60)) await trader.send("DELETE", `/v1/orders/${id}`);
    await trader.until(ids[59] ?? "", ({ state }) => state === "cancelled");
    await eventually(isTheBook, Boolean);
    expect(book.levels("asks").at(-1)).toEqual(["3049", "0.01"]);
    expect(book.faults).toEqual([]);
    expect(book.counts().snapshots).toBe(1);
    stream.ws.terminate();
  });

  /** Follows book and trades, is disconnected at random times, and resumes at the other service. */
  async function follow(
    book: ReturnType<typeof createLocalBook>,
    seen: Set<number>,
    start: number,
    load: { isOn: boolean },
  ): Promise<void> {
    for (let attempt = start; load.isOn; attempt++) {
      const service = attempt % 2 === 0 ? first : second;
      const stream = await openStream(service.url, { token: (traders[0] as Trader).token });
      stream.ws.on("message", (data) => {
        const message = JSON.parse(String(data)) as
          | SnapshotMessage
          | DeltaMessage
          | { type: "trade"; trade: Trade };
        if (message.type === "snapshot" || message.type === "delta") book.take(message);
        else if (message.type === "trade") {
          if (seen.has(message.trade.sequence)) throw new Error(`trade ${message.trade.sequence} came twice`);
          seen.add(message.trade.sequence);
        }
      });
      const since = book.sequence();
      const lastTrade = [...seen].at(-1);
      stream.send({
        type: "subscribe",
        channel: "orderbook:ETH-USD",
        ...(since === undefined ? {} : { since }),
      });
      stream.send({
        type: "subscribe",
        channel: "trades:ETH-USD",
        ...(lastTrade === undefined ? {} : { since: lastTrade }),
      });
      await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 800));
      stream.ws.terminate();
      await stream.closed;
    }
  }

  async function act(trader: Trader, next: ReturnType<typeof createRandomDeeds>, load: { isOn: boolean }) {
    const own: string[] = [];
    while (load.isOn) {
      const deed = next();
      if (deed.kind === "place") own.unshift((await trader.place(deed.body)).body.id);
      else if (deed.kind === "cancel") await trader.send("DELETE", `/v1/orders/${own[deed.ago] ?? own[0]}`);
    }
  }
});
