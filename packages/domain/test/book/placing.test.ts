import { describe, expect, it } from "vitest";
import { apply, filledBook, limit, market, numberOf, trades } from "./small-book.js";

describe("matching", () => {
  it("takes the best price first, then the oldest order, at the maker's price", () => {
    const book = filledBook();
    const effects = apply(book, limit("t", "buy", 10, 102));
    expect(trades(effects)).toEqual([
      ["a1", 5, 100],
      ["a2", 3, 100],
      ["a3", 2, 101],
    ]);
    expect(book.find(numberOf("a3"))?.remaining).toBe(2);
    expect(book.find(numberOf("t"))).toBeUndefined();
  });

  it("rests the remaining part of a gtc order at its own price", () => {
    const book = filledBook();
    expect(apply(book, limit("t", "buy", 10, 100)).at(-1)).toEqual({ kind: "rested", id: "t", remaining: 2 });
    expect(book.depth(1)).toEqual({
      bids: [{ price: 100, size: 2, orderCount: 1 }],
      asks: [{ price: 101, size: 4, orderCount: 1 }],
    });
  });

  it("cancels the remaining part of an ioc order", () => {
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

  it("rests a post_only order, or rejects it if it would match", () => {
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
  it("match everything and are then cancelled", () => {
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

  it("are rejected if their limit does not buy one lot", () => {
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
