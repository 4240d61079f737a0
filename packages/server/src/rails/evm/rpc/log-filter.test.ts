import { describe, expect, it } from "vitest";
import { readWithoutLogs } from "./log-filter.js";

const large = { leftMax: 10_000, readMax: 100_000 };
const isWanted = (log: unknown) => (log as { address?: unknown }).address === "0xwanted";

async function* inPieces(text: string, size: number) {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

const read = async (text: string, size: number, limits = large) =>
  (await readWithoutLogs(inPieces(text, size), isWanted, limits))?.toString("utf8");

const log = (address: string, data: unknown = "0x") => ({ address, topics: ["0x1", "0x2"], data });
const other = log("0xother", { nested: ['}]"logs":[\\', "ü"] });
const wanted = log("0xwanted", { logs: [log("0xother")], text: '\\"]}' });

const sizes = [5, 7, 11, 1000].map((size) => ({ size }));

describe.each(sizes)("an answer in pieces of $size", ({ size }) => {
  it("has only the logs that are kept, and everything else as it was", async () => {
    const receipt = (logs: unknown) => ({
      status: "0x1",
      logs,
      note: 'the "logs": [1]',
      last: ["logs", [2]],
    });
    const answer = (logs: unknown) => [
      { id: 1, result: receipt(logs) },
      { id: 2, result: [receipt([]), receipt(logs)] },
      { id: 3, error: { code: 1, message: '"logs":[{' } },
    ];
    const given = answer([other, wanted, other, other, wanted, other]);
    for (const indent of [0, 2]) {
      const left = await read(JSON.stringify(given, null, indent), size);
      expect(JSON.parse(left ?? "")).toEqual(answer([wanted, wanted]));
    }
    expect(JSON.parse((await read(JSON.stringify(answer([other])), size)) ?? "")).toEqual(answer([]));
  });

  it.each(['{"logs":[{"a":1,}]}', '{"logs":["a"]}', '{"logs":[{]}', '{"logs":[{"a":1}}', '{"logs":[nul]}'])(
    "that is not a list of objects is not made one: %s",
    async (text) => {
      const left = await read(text, size);
      expect(() => JSON.parse(left ?? "")).toThrow();
    },
  );
});

it("an answer is bounded by what is left of it, by what one log has, and by all that is read", async () => {
  const many = JSON.stringify({ logs: Array.from({ length: 1000 }, () => other) });
  expect(await read(many, 100, { leftMax: 500, readMax: 200_000 })).toBe('{"logs":[]}');
  expect(await read(many, 100, { leftMax: 500, readMax: 50_000 })).toBeUndefined();
  const one = JSON.stringify({ logs: [log("0xother", "0".repeat(1000))] });
  expect(await read(one, 100, { leftMax: 500, readMax: 200_000 })).toBeUndefined();
  const kept = JSON.stringify({ logs: Array.from({ length: 10 }, () => wanted) });
  expect(await read(kept, 100, { leftMax: 500, readMax: 200_000 })).toBeUndefined();
});

it("an answer in too many small pieces is not read to its end", async () => {
  const many = JSON.stringify({ logs: Array.from({ length: 1000 }, () => other) });
  expect(await read(many, 1, { leftMax: 500, readMax: 200_000 })).toBeUndefined();
});
