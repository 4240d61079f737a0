import { describe, expect, it } from "vitest";
import { createBook, type Effect } from "../index.js";
import { addKey, createChangedKeys, takeKeys } from "./book-side.js";

describe("changed levels", () => {
  it("are returned in order and once", () => {
    const changed = createChangedKeys();
    for (let key = 1000; key > 0; key--) addKey(changed, key);
    expect(takeKeys(changed)).toEqual(Array.from({ length: 1000 }, (_, at) => at + 1));
    expect(takeKeys(changed)).toEqual([]);
  });

  it("are reported once, however often a level is removed and returns", () => {
    const book = createBook();
    const effects: Effect[] = [];
    const terms = {
      owner: "a",
      side: "buy",
      size: 1,
      timeInForce: "gtc",
      selfTrade: "cancel_newest",
    } as const;
    for (let number = 1; number <= 5; number++) {
      const order = { number, id: `order-${number}` };
      book.apply({ kind: "place_limit", ...order, price: 7, ...terms }, effects);
      if (number < 5) book.apply({ kind: "cancel", ...order }, effects);
    }
    expect(book.takeLevelChanges()).toEqual([{ side: "buy", price: 7, size: 1, orderCount: 1 }]);
    book.apply({ kind: "cancel", number: 5, id: "order-5" }, effects);
    expect(book.takeLevelChanges()).toEqual([{ side: "buy", price: 7, size: 0, orderCount: 0 }]);
    expect(book.takeLevelChanges()).toEqual([]);
  });
});
