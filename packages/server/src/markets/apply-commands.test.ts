import { createAssetRegistry, createBook, createMarketRegistry, type MarketRegistry } from "@bursar/domain";
import { expect, it } from "vitest";
import type { MarketCommand } from "../app/markets/market-store.js";
import { assetList } from "../config/asset-list.js";
import { sandboxMarkets } from "../config/market-list.js";
import { applyCommands, assertTradersFree, cancelStopped } from "./apply-commands.js";

const markets = createMarketRegistry(
  sandboxMarkets,
  createAssetRegistry(assetList.default),
) as MarketRegistry;
const market = markets.get("ETH-USD");

const place = (sequence: number, side: "buy" | "sell"): MarketCommand => ({
  ...{ kind: "place", sequence, orderNumber: sequence, orderId: `order-${sequence}`, tenantId: side },
  ...{ actorId: null, content: "", held: 0n, priceLimit: null },
  order: {
    ...{ side, type: "limit", timeInForce: "gtc", selfTrade: "cancel_newest" },
    ...{ price: 100, size: 5, quoteSize: null },
  },
});

const cancelled = (id: string) => ({ kind: "cancelled", id, reason: "requested" });

it("ends an order that is stopped before it reaches the book, and executes the commands after it", () => {
  const book = createBook();
  const commands = [place(1, "sell"), place(2, "buy")];
  const results = applyCommands(book, market, commands, 1000, new Set(["order-1"]));
  expect(results.map(({ effects }) => effects)).toMatchObject([
    [cancelled("order-1")],
    [{ kind: "rested", id: "order-2" }],
  ]);
  expect(book.orderCount()).toBe(1);
});

it("cancels orders that rest and are stopped with the next command of the log, however many", () => {
  const book = createBook();
  applyCommands(book, market, [place(1, "sell"), place(2, "sell")]);
  const waiting = [place(3, "buy")];
  const stopped = new Set(["order-1", "order-2"]);
  const position = { admittedSequence: 3, appliedSequence: 2 };
  const loaded = {
    orders: book.openOrders(),
    waiting,
    stopped,
    position,
    band: null,
    notBefore: new Date(0),
  };
  const results = applyCommands(book, market, [...cancelStopped(loaded), ...waiting], 1, stopped);
  expect(results.map(({ effects }) => effects)).toMatchObject([
    [cancelled("order-1")],
    [cancelled("order-2")],
    [{ kind: "rested", id: "order-3" }],
  ]);
  expect(cancelStopped({ ...loaded, waiting: [] })).toEqual([]);
});

it("refuses a trade of an order that is stopped, and nothing else of it", () => {
  const book = createBook();
  const rests = applyCommands(book, market, [place(1, "sell")]);
  const orders = [{ id: "order-1", isStopped: true }];
  expect(() => assertTradersFree(rests, orders)).not.toThrow();
  const trades = applyCommands(book, market, [place(2, "buy")]);
  expect(() => assertTradersFree(trades, orders)).toThrow("order-1 is stopped");
});
