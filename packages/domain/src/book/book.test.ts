import { describe, expect, it } from "vitest";
import { type Book, createBook, restoreBook } from "./book.js";
import type { BookCommand, PlaceLimit, PlaceMarket } from "./commands.js";
import type { Effect, Trade } from "./effects.js";

const apply = (book: Book, ...commands: BookCommand[]): Effect[] => {
  const effects: Effect[] = [];
  for (const command of commands) book.apply(command, effects);
  return effects;
};
const limit = (
  id: string,
  side: "buy" | "sell",
  size: number,
  price: number,
  more: Partial<PlaceLimit> = {},
) =>
  ({
    kind: "place_limit",
    id,
    owner: `owner of ${id}`,
    side,
    size,
    price,
    timeInForce: "gtc",
    selfTrade: "cancel_newest",
    ...more,
  }) as const;
const market = (id: string, side: "buy" | "sell", size: number, more: Partial<PlaceMarket> = {}) =>
  ({
    kind: "place_market",
    id,
    owner: `owner of ${id}`,
    side,
    size,
    selfTrade: "cancel_newest",
    ...more,
  }) as const;
const trades = (effects: Effect[]) =>
  effects
    .filter((effect): effect is Trade => effect.kind === "trade")
    .map(({ maker, size, price }) => [maker, size, price]);

/** Asks at 100 (5, then 3) and 101 (4); bids at 99 (6). */
const filledBook = (): Book => {
  const book = createBook();
  apply(
    book,
    limit("a1", "sell", 5, 100),
    limit("a2", "sell", 3, 100),
    limit("a3", "sell", 4, 101),
    limit("b1", "buy", 6, 99),
  );
  return book;
};

describe("matching", () => {
  it("takes the best price first, then the oldest order, at the maker's price", () => {
    const book = filledBook();
    const effects = apply(book, limit("t", "buy", 10, 102));
    expect(trades(effects)).toEqual([
      ["a1", 5, 100],
      ["a2", 3, 100],
      ["a3", 2, 101],
    ]);
    expect(book.find("a3")?.remaining).toBe(2);
    expect(book.find("t")).toBeUndefined();
  });

  it("rests what is left of a gtc order at its own price", () => {
    const book = filledBook();
    expect(apply(book, limit("t", "buy", 10, 100)).at(-1)).toEqual({ kind: "rested", id: "t", remaining: 2 });
    expect(book.depth(1)).toEqual({
      bids: [{ price: 100, size: 2, orderCount: 1 }],
      asks: [{ price: 101, size: 4, orderCount: 1 }],
    });
  });

  it("cancels what is left of an ioc order", () => {
    expect(apply(filledBook(), limit("t", "buy", 10, 100, { timeInForce: "ioc" })).at(-1)).toEqual({
      kind: "cancelled",
      id: "t",
      remaining: 2,
      reason: "unfilled",
    });
  });

  it.each([
    [8, 100, true],
    [9, 100, false],
    [12, 101, true],
    [13, 101, false],
    [1, 99, false],
  ])("a fok buy of %i at %i is filled as a whole: %s", (size, price, isFilled) => {
    const book = filledBook();
    const before = book.fingerprint();
    const effects = apply(book, limit("t", "buy", size, price, { timeInForce: "fok" }));
    if (isFilled) expect(effects.at(-1)).toMatchObject({ kind: "trade", takerRemaining: 0 });
    else {
      expect(effects).toEqual([{ kind: "rejected", id: "t", reason: "fok_not_fillable" }]);
      expect(book.fingerprint()).toBe(before);
    }
  });

  it("lets a post_only order rest, or rejects it where it would take", () => {
    const postOnly = { timeInForce: "post_only" } as const;
    expect(apply(filledBook(), limit("t", "sell", 1, 99, postOnly))).toEqual([
      { kind: "rejected", id: "t", reason: "post_only_would_cross" },
    ]);
    expect(apply(filledBook(), limit("t", "buy", 1, 99, postOnly))).toEqual([
      { kind: "rested", id: "t", remaining: 1 },
    ]);
  });
});

describe("market orders", () => {
  it("take all there is, and end", () => {
    const book = filledBook();
    expect(apply(book, market("t", "buy", 20)).at(-1)).toMatchObject({ remaining: 8, reason: "unfilled" });
    expect(apply(book, market("u", "buy", 1))).toEqual([
      { kind: "rejected", id: "u", reason: "no_liquidity" },
    ]);
  });

  it.each([
    [500n, [["a1", 5, 100]]],
    [599n, [["a1", 5, 100]]],
    [
      600n,
      [
        ["a1", 5, 100],
        ["a2", 1, 100],
      ],
    ],
    [
      900n,
      [
        ["a1", 5, 100],
        ["a2", 3, 100],
      ],
    ],
    [
      901n,
      [
        ["a1", 5, 100],
        ["a2", 3, 100],
        ["a3", 1, 101],
      ],
    ],
  ])("a buyer with a limit of %d spends no more", (quoteMax, expected) => {
    const effects = apply(filledBook(), market("t", "buy", 12, { quoteMax }));
    expect(trades(effects)).toEqual(expected);
    expect(effects.at(-1)).toMatchObject({ kind: "cancelled", reason: "quote_limit" });
  });

  it("a limit that does not buy a lot is a reason to reject", () => {
    expect(apply(filledBook(), market("t", "buy", 1, { quoteMax: 99n }))).toEqual([
      { kind: "rejected", id: "t", reason: "quote_limit_too_low" },
    ]);
  });
});

describe("self-trade prevention", () => {
  const own = { owner: "owner of a2" };
  it.each([
    ["cancel_newest", [["a1", 5, 100]], ["t"]],
    [
      "cancel_oldest",
      [
        ["a1", 5, 100],
        ["a3", 4, 101],
      ],
      ["a2"],
    ],
    ["cancel_both", [["a1", 5, 100]], ["a2", "t"]],
  ] as const)("%s", (selfTrade, expected, ended) => {
    const effects = apply(filledBook(), limit("t", "buy", 10, 101, { ...own, selfTrade }));
    expect(trades(effects)).toEqual(expected);
    const cancelled = effects.flatMap((effect) =>
      effect.kind === "cancelled" && effect.reason === "self_trade" ? [effect.id] : [],
    );
    expect(cancelled).toEqual(ended);
  });

  it.each([
    ["cancel_newest", 5, true],
    ["cancel_newest", 6, false],
    ["cancel_oldest", 9, true],
    ["cancel_oldest", 10, false],
    ["cancel_both", 6, false],
  ] as const)(
    "a fok order with %s does not count on its owner's orders for %i",
    (selfTrade, size, isFilled) => {
      const book = filledBook();
      const effects = apply(book, limit("t", "buy", size, 101, { ...own, selfTrade, timeInForce: "fok" }));
      expect(effects.some(({ kind }) => kind === "rejected")).toBe(!isFilled);
    },
  );
});

describe("changing an open order", () => {
  it("smaller keeps its place", () => {
    const book = filledBook();
    expect(apply(book, { kind: "amend", id: "a1", size: 2 })).toEqual([
      { kind: "amended", id: "a1", size: 2, remaining: 2 },
    ]);
    expect(trades(apply(book, market("t", "buy", 3)))).toEqual([
      ["a1", 2, 100],
      ["a2", 1, 100],
    ]);
  });

  it("counts what is filled in its size", () => {
    const book = filledBook();
    apply(book, market("t", "buy", 2));
    expect(apply(book, { kind: "amend", id: "a1", size: 3 })[0]).toMatchObject({ size: 3, remaining: 1 });
    const refused = (size: number) => apply(book, { kind: "amend", id: "a1", size })[0];
    expect(refused(2)).toMatchObject({ reason: "size_not_above_filled" });
    expect(refused(3)).toMatchObject({ reason: "size_not_smaller" });
  });

  it("cancelled is gone, and cannot be cancelled again", () => {
    const book = filledBook();
    expect(apply(book, { kind: "cancel", id: "b1" }, { kind: "cancel", id: "b1" })).toEqual([
      { kind: "cancelled", id: "b1", remaining: 6, reason: "requested" },
      { kind: "command_refused", command: "cancel", id: "b1", reason: "order_not_open" },
    ]);
    expect(book.depth(5).bids).toEqual([]);
  });
});

describe("the bounds of a book", () => {
  it("holds as many orders as it may", () => {
    const book = createBook({ ordersMax: 2 });
    const effects = apply(book, limit("a", "buy", 1, 1), limit("b", "buy", 1, 1), limit("c", "buy", 1, 1));
    expect(effects.at(-1)).toEqual({ kind: "cancelled", id: "c", remaining: 1, reason: "book_full" });
  });

  it("holds a side whose sum is a safe integer, and no more", () => {
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
    expect(() => apply(filledBook(), { kind: "amend", id: "a1", size: value })).toThrow(
      "a positive safe integer",
    );
  });

  it("takes an id that is open for a broken program", () => {
    expect(() => apply(filledBook(), limit("a1", "buy", 1, 1))).toThrow("is in the book already");
    expect(() => apply(filledBook(), market("t", "sell", 1, { quoteMax: 1n }))).toThrow("of a buyer");
  });
});

describe("a book made anew", () => {
  it("is the same, and told apart where one order differs", () => {
    const book = filledBook();
    const orders = book.openOrders();
    expect(orders.map(({ id }) => id)).toEqual(["b1", "a1", "a2", "a3"]);
    expect(restoreBook(orders).fingerprint()).toBe(book.fingerprint());
    const swapped = [orders[0], orders[2], orders[1], orders[3]].flatMap((order) => order ?? []);
    expect(restoreBook(swapped).fingerprint()).not.toBe(book.fingerprint());
    expect(restoreBook(orders.slice(1)).fingerprint()).not.toBe(book.fingerprint());
  });

  it("is refused where the orders cannot have been one book", () => {
    const order = { id: "x", owner: "o", side: "buy", price: 100, size: 2, remaining: 1 } as const;
    const broken =
      (...orders: Parameters<typeof restoreBook>[0][]) =>
      () =>
        restoreBook(orders.flatMap((o) => [...o]));
    expect(broken([order], [order])).toThrow("already");
    expect(broken([order], [{ ...order, id: "y", side: "sell" }])).toThrow("crosses");
    expect(broken([{ ...order, remaining: 3 }])).toThrow("more left");
    expect(broken([{ ...order, remaining: 0 }])).toThrow("positive safe integer");
    expect(() => restoreBook([order], { ordersMax: 0 })).toThrow("may hold");
  });
});

describe("changed levels", () => {
  it("are told once, with what they are now, and 0 where they are gone", () => {
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
