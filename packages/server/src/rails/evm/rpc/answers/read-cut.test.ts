import { expect, it } from "vitest";
import { type Cut, readCut } from "./read-cut.js";

const large = { leftMax: 100_000, readMax: 100_000 };

async function read(value: unknown, size: number, limits = large, cut: Cut = "text"): Promise<unknown> {
  const bytes = Buffer.from(JSON.stringify(value));
  async function* pieces() {
    for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
  }
  const left = await readCut(pieces(), cut, limits);
  return left === undefined ? undefined : JSON.parse(left.toString("utf8"));
}

it.each([30, 100, 1000, 100_000])("of a long string the beginning is left, in pieces of %i", async (size) => {
  const short = { hash: "0x12", bloom: "f".repeat(2048), note: '\\\\"\\', list: [["", 1, null]] };
  const answer = (input: string) => [short, { input, value: "0x1" }, { input }, short];
  expect(await read(answer(`0x${"ab".repeat(5000)}`), size)).toEqual(answer(`0x${"ab".repeat(1023)}`));
  expect(await read(answer("ab".repeat(1023)), size)).toEqual(answer("ab".repeat(1023)));
  const escaped = answer(`${"a".repeat(2047)}${'"\\'.repeat(100)}`);
  expect(await read(escaped, size)).toEqual(answer(`${"a".repeat(2047)}"`));
});

it("an answer is bounded by what is left of it, and by all that is read", async () => {
  const answer = ["a".repeat(10_000), "b".repeat(10_000)];
  expect(await read(answer, 1000, { leftMax: 5000, readMax: 30_000 })).toHaveLength(2);
  expect(await read(answer, 1000, { leftMax: 4000, readMax: 30_000 })).toBeUndefined();
  expect(await read(answer, 1000, { leftMax: 5000, readMax: 20_000 })).toBeUndefined();
  expect(await read(answer, 1, { leftMax: 5000, readMax: 30_000 })).toBeUndefined();
});

it.each([30, 100, 1000, 100_000])(
  "of a list of transactions the brackets are left, in pieces of %i",
  async (size) => {
    const header = (transactions: unknown) => ({
      ...{ hash: "0x12", note: "transactions", extra: ['"transactions":["a"]'] },
      ...{ transactions, withdrawals: [{ index: "0x1" }], number: "0x7" },
    });
    const many = Array.from({ length: 200 }, () => `0x${"ab".repeat(32)}`);
    const full = [{ input: '"]\\', accessList: [[], {}] }, ["]"]];
    const cut = (answer: unknown) => read(answer, size, large, "transactions");
    expect(await cut([header(many), header(full), header([])])).toEqual([header([]), header([]), header([])]);
    expect(await cut({ transactions: "0x1", last: many })).toEqual({ transactions: "0x1", last: many });
  },
);
