import { createBook, restoreBook } from "@bursar/domain";
import { describe, expect, it } from "vitest";
import { amend, apply, cancel, filledBook, limit, market, numberOf, trades } from "./small-book.js";

describe("changing an open order", () => {
  it("keeps its place when it is reduced", () => {
    const book = filledBook();
    expect(apply(book, amend("a1", 2))).toEqual([{ kind: "amended", id: "a1", size: 2, remaining: 2 }]);
    expect(trades(apply(book, market("t", "buy", 3)))).toEqual([
      ["a1", 2, 100],
      ["a2", 1, 100],
    ]);
  });

  it("counts the filled part as part of its size", () => {
    const book = filledBook();
    apply(book, market("t", "buy", 2));
    expect(apply(book, amend("a1", 3))[0]).toMatchObject({ size: 3, remaining: 1 });
    const refused = (size: number) => apply(book, amend("a1", size))[0];
    expect(refused(2)).toMatchObject({ reason: "size_not_above_filled" });
    expect(refused(3)).toMatchObject({ reason: "size_not_smaller" });
  });

  it("removes a cancelled order, which cannot be cancelled again", () => {
    const book = filledBook();
    expect(apply(book, cancel("b1"), cancel("b1"))).toEqual([
      { kind: "cancelled", id: "b1", remaining: 6, reason: "requested" },
      { kind: "command_refused", command: "cancel", id: "b1", reason: "order_not_open" },
    ]);
    expect(book.depth(5).bids).toEqual([]);
  });
});

describe("the bounds of a book", () => {
  it("cancels an order that exceeds its capacity", () => {
    const book = createBook({ ordersMax: 2 });
    const effects = apply(book, limit("a", "buy", 1, 1), limit("b", "buy", 1, 1), limit("c", "buy", 1, 1));
    expect(effects.at(-1)).toEqual({ kind: "cancelled", id: "c", remaining: 1, reason: "book_full" });
  });

  it("matches an order with a bounded number of others, and rejects a fok order that needs more", () => {
    const meet = (order: () => Parameters<typeof apply>[1]) => {
      const book = createBook({ makersMax: 2 });
      apply(book, limit("a", "sell", 1, 5), limit("b", "sell", 1, 5), limit("c", "sell", 1, 6));
      return apply(book, order()).map((effect) => ("reason" in effect ? effect.reason : effect.kind));
    };
    expect(meet(() => limit("t", "buy", 3, 9))).toEqual(["trade", "trade", "match_limit"]);
    expect(meet(() => limit("t", "buy", 2, 9))).toEqual(["trade", "trade"]);
    expect(meet(() => limit("t", "buy", 3, 5))).toEqual(["trade", "trade", "rested"]);
    expect(meet(() => market("t", "buy", 3))).toEqual(["trade", "trade", "match_limit"]);
    expect(meet(() => limit("t", "buy", 3, 9, { timeInForce: "fok" }))).toEqual(["fok_not_fillable"]);
    expect(meet(() => limit("t", "buy", 2, 9, { timeInForce: "fok" }))).toEqual(["trade", "trade"]);
    const own = { owner: "owner of a", selfTrade: "cancel_oldest" } as const;
    expect(meet(() => limit("t", "buy", 2, 9, own))).toEqual(["self_trade", "trade", "match_limit"]);
  });

  it("matches nothing for an order with an empty budget", () => {
    expect(apply(filledBook(), market("t", "buy", 1, { quoteMax: 0n }))).toEqual([
      { kind: "rejected", id: "t", reason: "quote_limit_too_low" },
    ]);
  });

  it("keeps the total of a side a safe integer", () => {
    const book = createBook();
    const most = Number.MAX_SAFE_INTEGER;
    const effects = apply(
      book,
      limit("a", "buy", most - 1, most),
      limit("b", "buy", 1, 7),
      limit("c", "buy", 1, 7),
    );
    expect(effects.map(({ kind }) => kind)).toEqual(["rested", "rested", "cancelled"]);
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 53])("takes %d for a broken program", (value) => {
    expect(() => apply(createBook(), limit("a", "buy", value, 1))).toThrow("a positive safe integer");
    expect(() => apply(createBook(), limit("a", "buy", 1, value))).toThrow("a positive safe integer");
    expect(() => apply(createBook(), market("a", "buy", value))).toThrow("a positive safe integer");
    expect(() => apply(filledBook(), amend("a1", value))).toThrow("a positive safe integer");
  });

  it("throws for an order number that is not above all earlier ones", () => {
    const book = filledBook();
    const again = { number: numberOf("b1") };
    expect(() => apply(book, limit("t", "buy", 1, 1, again))).toThrow("does not come after");
    expect(() => apply(book, market("t", "buy", 1, again))).toThrow("does not come after");
    expect(() => apply(restoreBook(book.openOrders()), limit("t", "buy", 1, 1, again))).toThrow(
      "does not come after",
    );
    expect(() => apply(book, limit("t", "buy", 1, 1, { number: 0.5 }))).toThrow("a positive safe integer");
    expect(() => apply(filledBook(), market("t", "sell", 1, { quoteMax: 1n }))).toThrow("only a buyer");
  });
});

describe("a restored book", () => {
  it("has the same fingerprint, and another if one order differs", () => {
    const book = filledBook();
    const orders = book.openOrders();
    expect(orders.map(({ id }) => id)).toEqual(["b1", "a1", "a2", "a3"]);
    expect(restoreBook(orders).fingerprint()).toBe(book.fingerprint());
    const swapped = [orders[0], orders[2], orders[1], orders[3]].flatMap((order) => order ?? []);
    expect(restoreBook(swapped).fingerprint()).not.toBe(book.fingerprint());
    expect(restoreBook(orders.slice(1)).fingerprint()).not.toBe(book.fingerprint());
  });

  it("throws if the orders cannot have been in one book", () => {
    const order = { number: 1, id: "x", owner: "o", side: "buy", price: 100, size: 2, remaining: 1 } as const;
    const broken =
      (...orders: Parameters<typeof restoreBook>[0][]) =>
      () =>
        restoreBook(orders.flatMap((o) => [...o]));
    expect(broken([order], [order])).toThrow("already");
    expect(broken([order], [{ ...order, number: 2, id: "y", side: "sell" }])).toThrow("crosses");
    expect(broken([{ ...order, remaining: 3 }])).toThrow("more remaining");
    expect(broken([{ ...order, remaining: 0 }])).toThrow("positive safe integer");
    expect(() => restoreBook([order], { ordersMax: 0 })).toThrow("capacity");
  });
});

describe("changed levels", () => {
  it("are reported once with their current size, and with 0 if they were removed", () => {
    const book = filledBook();
    book.takeLevelChanges();
    apply(book, market("t", "buy", 9), limit("n", "buy", 1, 98), limit("m", "buy", 2, 99));
    expect(book.takeLevelChanges()).toEqual([
      { side: "buy", price: 99, size: 8, orderCount: 2 },
      { side: "buy", price: 98, size: 1, orderCount: 1 },
      { side: "sell", price: 100, size: 0, orderCount: 0 },
      { side: "sell", price: 101, size: 3, orderCount: 1 },
    ]);
    expect(book.takeLevelChanges()).toEqual([]);
  });
});
