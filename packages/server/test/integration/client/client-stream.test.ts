import { createBursar } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { createTcpProxy } from "../../harness/http/tcp-proxy.js";
import { createTrader } from "../../harness/markets/trader.js";
import { sharedService } from "../../harness/service/shared-service.js";

describe("the client and the stream of a service", () => {
  it("follows every event across cut connections", async () => {
    const service = await sharedService();
    const { clientId, secret } = await service.createTenant("1000");
    const proxy = await createTcpProxy({ host: "127.0.0.1", port: Number(new URL(service.url).port) });
    const direct = createBursar({ baseUrl: service.url, credentials: { clientId, secret } });
    const follower = createBursar({
      baseUrl: `http://127.0.0.1:${proxy.port}`,
      credentials: { clientId, secret },
      WebSocket: WebSocket as never,
      runtime: { random: () => 0 },
    });
    const seen: number[] = [];
    const states = new Map<string, string>();
    const pay = async (at: number) =>
      (await direct.transactions.create({ reference: `stream-${at}`, asset: "USD", amount: "1" })).id;
    const ids = [await pay(0)];
    for await (const item of follower.events.follow({ since: 0 })) {
      if (item.type === "gap") throw new Error(`a gap: ${JSON.stringify(item)}`);
      seen.push(item.sequence);
      if (item.event.event !== "transaction.updated") continue;
      const { id, state } = item.event.data.transaction;
      states.set(id, state);
      if (states.size === 12 && [...states.values()].every((one) => one === "completed")) break;
      if (ids.length === 12 || state !== "completed") continue;
      // The connection is cut, and the next payment happens while nobody listens.
      await proxy.cut();
      ids.push(await pay(ids.length));
      await proxy.restore();
    }
    await proxy.cut();
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, at) => at + 1));
    expect([...states.keys()]).toEqual(ids);
  });

  it("has the book and the trades of a market", async () => {
    const service = await sharedService();
    const trader = await createTrader(service, { ETH: "100", USD: "1000000" });
    const { clientId, secret } = trader.owner;
    const bursar = createBursar({
      baseUrl: service.url,
      credentials: { clientId, secret },
      WebSocket: WebSocket as never,
    });
    const trades = bursar.trades.follow("ETH-USD", { since: 0 })[Symbol.asyncIterator]();
    const books = bursar.orderbook.live("ETH-USD");
    let isPlaced = false;
    for await (const book of books) {
      if (!isPlaced) {
        isPlaced = true;
        await trader.placed({ reference: "a", side: "sell", type: "limit", price: "2500", size: "2" });
        continue;
      }
      const snapshot = await bursar.orderbook.get({ market: "ETH-USD", depth: 1000 });
      if (snapshot.sequence !== book.sequence) continue;
      expect({ bids: book.bids, asks: book.asks }).toEqual({ bids: snapshot.bids, asks: snapshot.asks });
      expect(book.asks).toContainEqual(["2500", "2.00"]);
      break;
    }
    const buyer = await createTrader(service, { USD: "1000000" });
    await buyer.placed({ reference: "b", side: "buy", type: "limit", price: "2500", size: "2" });
    const first = await trades.next();
    expect(first.value).toMatchObject({ type: "trade", trade: { market: "ETH-USD" } });
    await trades.return(undefined);
  });

  it("fails at once without the scope", async () => {
    const service = await sharedService();
    const tenant = await service.createTenant();
    const { clientId, secret } = await service.createIndependentClient(tenant, ["wallets:read"]);
    const bursar = createBursar({
      baseUrl: service.url,
      credentials: { clientId, secret },
      WebSocket: WebSocket as never,
    });
    await expect(bursar.events.follow().next()).rejects.toMatchObject({ code: "INSUFFICIENT_SCOPE" });
  });
});
