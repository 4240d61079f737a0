import { assert, jsonValue, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { readJson } from "./json-text.js";

const fault = (text: string) => {
  const reading = readJson(text, 16);
  return "fault" in reading ? reading.fault : undefined;
};

describe("reading JSON", () => {
  it("gives what JSON.parse gives for every ordinary text", () =>
    assert(
      property(jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        const reading = readJson(text, 16);
        if ("fault" in reading) return /not allowed|NUL|surrogate/.test(reading.fault);
        return JSON.stringify(reading.value) === text;
      }),
    ));

  it.each([
    ['{"a":1,"a":2}', "repeats a key"],
    ['{"a":1,"\\u0061":2}', "repeats a key"],
    ['{"x":{"b":":","b":[]}}', "repeats a key"],
    ['[{"a":1},{"a":1,"a":1}]', "repeats a key"],
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
  ])("refuses text %$: %o", (text, reason) => {
    expect(fault(text)).toContain(reason);
  });

  it.each([
    '{"a":"b:c"}',
    '{"a\\"":":","b":1}',
    '{"a":"\\\\","b":1}',
    "[".repeat(16) + "]".repeat(16),
    '{"a":"\\ud83d\\ude00"}',
  ])("takes text %$", (text) => {
    expect(fault(text)).toBeUndefined();
  });
});
