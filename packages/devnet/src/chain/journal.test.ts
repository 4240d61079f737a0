import { describe, expect, it } from "vitest";
import { canonicalSteps, type JournalBlock, type JournalEntry, readEntries } from "./journal.js";

const block = (number: number, hash = `0x${number}`): JournalBlock => ({
  number,
  hash,
  timestamp: number,
  coinbase: "0xc0",
  transactions: [],
});
const mined = (number: number): JournalEntry => ({ type: "block", ...block(number) });
const set = (what: string): JournalEntry => ({ type: "state", method: what, params: [] });
const names = (entries: JournalEntry[]) =>
  canonicalSteps(entries).map((step) => (step.type === "block" ? step.hash : step.method));

describe("the journal", () => {
  it("is executed without the blocks that were replaced, and what was set after the first of them", () => {
    const reorganised: JournalEntry = {
      type: "reorganisation",
      depth: 2,
      blocks: [block(2, "b"), block(3, "c")],
    };
    expect(
      names([mined(1), set("kept"), mined(2), set("lost"), mined(3), set("lost"), reorganised, mined(4)]),
    ).toEqual(["0x1", "kept", "b", "c", "0x4"]);
  });

  it("is refused if it removes more than it has", () => {
    expect(() => names([mined(1), { type: "reorganisation", depth: 2, blocks: [] }])).toThrow("has only 1");
  });

  it.each([
    ["a line without an end", '{"type":"block"}\n{"type"', 1, 17],
    ["a complete line that is not JSON", '{"type":"block"}\n\0\0\0\n', 1, 17],
    ["a JSON line whose end is missing", '{"type":"block"}\n{"type":"block"}', 1, 17],
    ["nothing", "", 0, 0],
  ])("ends before %s", (_, content, entries, bytes) => {
    const read = readEntries(Buffer.from(content), "journal");
    expect([read.entries.length, read.bytes]).toEqual([entries, bytes]);
  });

  it("is refused if a line in its middle is damaged", () => {
    expect(() => readEntries(Buffer.from("{}\n{\n{}\n"), "journal")).toThrow("Line 2 of journal is damaged");
  });
});
