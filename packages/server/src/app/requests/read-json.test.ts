import { assert, jsonValue, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { readJson, readJsonInSlices } from "./read-json.js";

const fault = (text: string) => {
  const reading = readJson(text, 16);
  return "fault" in reading ? reading.fault : undefined;
};

/** An object with this many members. */
function members(count: number): string {
  return `{${Array.from({ length: count }, (_, index) => `"k${index}":${index}`).join(",")}}`;
}

describe("reading JSON", () => {
  it("agrees with JSON.parse on every ordinary document", () =>
    assert(
      property(jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        const reading = readJson(text, 16);
        if ("fault" in reading) return /not allowed|NUL|surrogate/.test(reading.fault);
        return JSON.stringify(reading.value) === text;
      }),
    ));

  it("accepts the longest numbers that JavaScript writes", () => {
    for (const text of [
      "-0.0000011926473223579281",
      "-1.7976931348623157e+308",
      "-2.2250738585072014e-308",
    ]) {
      expect(String(Number(text))).toBe(text);
      expect(fault(text)).toBeUndefined();
    }
  });

  it.each([
    ['{"a":1,"a":2}', "duplicate key"],
    ['{"a":1,"\\u0061":2}', "duplicate key"],
    ['{"x":{"b":":","b":[]}}', "duplicate key"],
    ['[{"a":1},{"a":1,"a":1}]', "duplicate key"],
    ['{"__proto__":{}}', "__proto__"],
    ['{"a":{"constructor":{"prototype":{}}}}', "constructor"],
    ['{"\\u005f_proto__":1}', "__proto__"],
    ['{"a":"\\u0000"}', "NUL"],
    ['{"\\u0000":1}', "NUL"],
    ['{"a":"\\ud800"}', "surrogate"],
    ["[".repeat(17) + "]".repeat(17), "deeper than 16"],
    ["[".repeat(60_000), "deeper than 16"],
    ['{"a":1,}', "not valid JSON"],
    ['{"a":1', "not valid JSON"],
    ['{"a":"', "not valid JSON"],
    ['{"a":"\\', "not valid JSON"],
    ["\ufeff{}", "not valid JSON"],
    ["", "not valid JSON"],
    ["{'a':1}", "not valid JSON"],
    ["NaN", "not valid JSON"],
    ["[1,]", "not valid JSON"],
    ["[1 2]", "not valid JSON"],
    ["{}{}", "not valid JSON"],
    ["01", "not valid JSON"],
    ["0x10", "not valid JSON"],
    ["// comment\n{}", "not valid JSON"],
    ['{"a":"\t"}', "not valid JSON"],
    ['{"a":undefined}', "not valid JSON"],
    ['{"a":"\\udc00\\ud800"}', "surrogate"],
    ['{"prototype":1}', "prototype"],
    ["9".repeat(64), "more than 25 characters"],
    [`{"a":-0.${"1".repeat(64)}}`, "more than 25 characters"],
    [`[1e${"0".repeat(64)}1]`, "more than 25 characters"],
    ["[1e999]", "too large"],
    [members(101), "more than 100 members"],
    [`{"a":{"b":${members(101)}}}`, "more than 100 members"],
    [`[${"0,".repeat(50_001)}0]`, "more than 50000 values"],
  ])("refuses document %$: %o", (text, reason) => {
    expect(fault(text)).toContain(reason);
  });

  it.each([
    '{"a":"b:c"}',
    '{"a\\"":":","b":1}',
    '{"a":"\\\\","b":1}',
    "[".repeat(16) + "]".repeat(16),
    '{"a":"\\ud83d\\ude00"}',
    "-1.7976931348623157e+308",
    `[${members(100)},${members(100)}]`,
    `{"a":"${"9".repeat(64)}"}`,
  ])("accepts document %$", (text) => {
    expect(fault(text)).toBeUndefined();
  });
});

/** Documents of about this length that make a careless parser read the same characters repeatedly. */
const hostileTexts: [what: string, make: (length: number) => string][] = [
  ["depth", (length) => "[".repeat(length)],
  ["escaped quotes", (length) => `"${'\\"'.repeat(length / 2)}"`],
  ["backslashes", (length) => `"${"\\".repeat(length)}`],
  ["an unterminated string", (length) => `"${"a".repeat(length)}`],
  ["unterminated strings", (length) => '"'.repeat(length)],
  ["digits", (length) => "9".repeat(length)],
  ["invalid numbers", (length) => "1e".repeat(length / 2)],
  ["signs", (length) => "1,-".repeat(length / 3)],
  ["empty objects", (length) => `[${"{},".repeat(length / 3)}{}]`],
  ["spaces", (length) => `${" ".repeat(length)}{}`],
  ["colons", (length) => ":".repeat(length)],
  ["keys", (length) => members(length / 8)],
];

describe("the cost of reading", () => {
  /** The number of characters read before the parser runs or the document is refused: counted, because times vary. */
  function looksAt(text: string): number {
    let looks = 0;
    const counted = {
      length: text.length,
      charCodeAt: (index: number) => {
        looks += 1;
        return text.charCodeAt(index);
      },
      includes: (part: string) => text.includes(part),
      toString: () => text,
    };
    readJson(counted as unknown as string, 16);
    return looks;
  }

  it.each(hostileTexts)("is linear in the length of the document: %s", (_what, make) => {
    const [once, twice] = [looksAt(make(30_000)), looksAt(make(60_000))];
    expect(once).toBeLessThanOrEqual(3 * 30_000);
    expect(twice).toBeLessThanOrEqual(2.1 * once + 100);
  });

  it("reads a large document in slices with the same result", async () => {
    const item = (index: number) => ({
      key: `k${index}`,
      text: 'quoted "text", {braces}',
      list: [1, -2.5, null],
    });
    const document = { items: Array.from({ length: 8000 }, (_, index) => item(index)) };
    const text = JSON.stringify(document);
    expect(text.length).toBeGreaterThan(500_000);
    expect(await readJsonInSlices(text, 16)).toEqual(readJson(text, 16));
    for (const spoilt of [
      text.replace('"key":"k7999"', '"text":"k7999"'),
      text.slice(0, -1),
      `${text}]`,
      `[${text}`,
    ])
      expect(await readJsonInSlices(spoilt, 16)).toEqual({ fault: expect.any(String) });
  });

  it("reads a bounded number of characters of a large document in each turn of the event loop", async () => {
    const text = JSON.stringify(Array.from({ length: 4000 }, () => "x".repeat(1000)));
    let looks = 0;
    let most = 0;
    const counted = {
      length: text.length,
      charCodeAt: (index: number) => {
        looks += 1;
        most = Math.max(most, looks);
        return text.charCodeAt(index);
      },
      includes: (part: string) => text.includes(part),
      toString: () => text,
    };
    let isDone = false;
    const countTurn = () => {
      looks = 0;
      if (!isDone) setImmediate(countTurn);
    };
    setImmediate(countTurn);
    expect(await readJsonInSlices(counted as unknown as string, 16)).toHaveProperty("value");
    isDone = true;
    // The counter and the slices alternate, in either order. A slice ends after the string in which its last character is.
    expect(most).toBeLessThanOrEqual(2 * (262_144 + 10_000));
  });
});
