import { describe, expect, it } from "vitest";
import { coalesce } from "./coalesce.js";

describe("look-ups that are joined", () => {
  it("are one for all of a turn, each key once, and each gets its own answer", async () => {
    const asked: number[][] = [];
    const read = coalesce<number, string>(
      String,
      async (keys) => {
        asked.push([...keys]);
        return new Map(keys.filter((key) => key !== 3).map((key) => [String(key), `value ${key}`]));
      },
      10,
    );
    expect(await Promise.all([read(1), read(2), read(1), read(3)])).toEqual([
      "value 1",
      "value 2",
      "value 1",
      undefined,
    ]);
    expect(await read(1)).toBe("value 1");
    expect(asked).toEqual([[1, 2, 3], [1]]);
  });

  it("are cut into batches, and one that fails does not fail the others", async () => {
    const read = coalesce<number, number>(
      String,
      async (keys) => {
        if (keys.includes(3)) throw new Error("unavailable");
        return new Map(keys.map((key) => [String(key), key]));
      },
      2,
    );
    const results = await Promise.allSettled([read(1), read(2), read(3), read(4)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected"]);
  });
});
