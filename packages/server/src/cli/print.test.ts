import { describe, expect, it } from "vitest";
import { printableJson, printableLines } from "./print.js";

const hostile = "a\u001b[2Jb\u009bcd\u202ee\u2028f\u0007g\rh\u{e0041}i\u3164j";

describe("what commands print", () => {
  it("has no character that a terminal acts on but line feeds", () => {
    expect(printableLines(`${hostile}\nnext`)).toBe(
      "a\\u{1b}[2Jb\\u{9b}cd\\u{202e}e\\u{2028}f\\u{7}g\\u{d}h\\u{e0041}i\\u{3164}j\nnext",
    );
  });

  it("stays the same value as JSON", () => {
    const value = { [hostile]: [hostile, "plain"] };
    const json = printableJson(JSON.stringify(value, null, 2));
    expect(JSON.parse(json)).toEqual(value);
    expect(json.replaceAll("\n", "")).not.toMatch(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
    );
  });
});
