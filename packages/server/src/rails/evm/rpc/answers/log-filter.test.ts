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

it("a log with long data is read, and one of many parts is not parsed", async () => {
  const limits = { leftMax: 1_000_000, readMax: 1_000_000 };
  const long = { logs: [log("0xwanted", `0x${"ab".repeat(100_000)}`), other] };
  const left = JSON.parse((await read(JSON.stringify(long), 1000, limits)) ?? "") as typeof long;
  expect(left).toEqual({ logs: [log("0xwanted", expect.stringMatching(/^0x(ab){1000,1023}$/))] });
  const hostile = `{"logs":[{"address":"0xother","topics":[${"[],".repeat(100_000)}[]]}]}`;
  for (const size of [1000, 1_000_000]) await expect(read(hostile, size, limits)).rejects.toThrow();
});

it("an answer in too many small pieces is not read to its end", async () => {
  const many = JSON.stringify({ logs: Array.from({ length: 1000 }, () => other) });
  expect(await read(many, 1, { leftMax: 500, readMax: 200_000 })).toBeUndefined();
});

/** What it takes beside the text, at most, in bytes. */
async function memoryFor(text: string, isKept: (log: unknown) => boolean): Promise<number> {
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  async function* pieces() {
    for await (const piece of inPieces(text, 65_536)) {
      most = Math.max(most, process.memoryUsage().heapUsed - before);
      yield piece;
    }
  }
  await readWithoutLogs(pieces(), isKept, { leftMax: 2 * text.length, readMax: 2 * text.length });
  return most;
}

it("an answer of a million parts does not take an object for each", async () => {
  const text = `{"logs":[${"7".repeat(1024 * 1024)}]}`;
  expect(await memoryFor(text, isWanted)).toBeLessThan(60 * text.length);
});

it("logs behind one that cannot be read are not looked at, and an answer with many such lists is not read to its end", async () => {
  let looks = 0;
  const throwing = () => {
    looks += 1;
    throw new Error("it is no log");
  };
  const answer = (lists: number) => `[${Array.from({ length: lists }, () => '{"logs":[{},{},{}]}').join()}]`;
  const limits = { leftMax: 100_000, readMax: 100_000 };
  const left = await readWithoutLogs(inPieces(answer(2), 100), throwing, limits);
  expect([left?.toString("utf8"), looks]).toEqual(['[{"logs":[{}]},{"logs":[{}]}]', 2]);
  await expect(readWithoutLogs(inPieces(answer(5000), 1000), throwing, limits)).rejects.toThrow();
  expect(looks).toBeLessThan(200);
});
