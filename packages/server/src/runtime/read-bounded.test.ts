import { describe, expect, it } from "vitest";
import { readBounded } from "./read-bounded.js";

describe("an answer of another server", () => {
  const inPieces = (bytes: number, size: number) => {
    const state = { given: 0, isEnded: false };
    async function* give() {
      try {
        for (; state.given < bytes; state.given += size) yield Buffer.alloc(size, "a");
      } finally {
        state.isEnded = true;
      }
    }
    return { state, body: give() };
  };

  it("is read up to its bound of bytes", async () => {
    expect((await readBounded(inPieces(65_536, 512).body, 65_536))?.length).toBe(65_536);
    const { state, body } = inPieces(1_000_000, 512);
    expect(await readBounded(body, 65_536)).toBeUndefined();
    expect(state.given).toBe(65_536);
  });

  it("is left, and its connection ended, if it comes in pieces of one byte", async () => {
    expect((await readBounded(inPieces(1000, 1).body, 65_536))?.length).toBe(1000);
    const { state, body } = inPieces(60_000, 1);
    expect(await readBounded(body, 65_536)).toBeUndefined();
    expect(state).toEqual({ given: 1032, isEnded: true });
  });
});
