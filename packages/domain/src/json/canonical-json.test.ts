import { assert, jsonValue, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "./canonical-json.js";

describe("canonical JSON", () => {
  it("agrees with the example of RFC 8785, section 3.2.2", () => {
    const value = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it("sorts as RFC 8785, section 3.2.3 does", () => {
    const value = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 };
    expect(Object.values(JSON.parse(canonicalJson(value)))).toHaveLength(7);
    expect([...canonicalJson(value).matchAll(/:(\d)/g)].map((match) => match[1]).join("")).toBe("2467153");
  });

  it("does not depend on the order of keys", () =>
    assert(
      property(jsonValue(), (value) => {
        if (typeof value !== "object" || value === null || Array.isArray(value)) return true;
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        return canonicalJson(reversed) === canonicalJson(value);
      }),
    ));

  it("throws on a value that JSON cannot represent", () => {
    expect(() => canonicalJson(Number.NaN)).toThrow();
    expect(() => canonicalJson(1n)).toThrow();
  });
});
