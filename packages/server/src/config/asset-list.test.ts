import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { assetList } from "./asset-list.js";
import { showEntry } from "./describe-config.js";
import { ListFault } from "./list-setting.js";

const euro = { code: "EUR", decimals: "2", network: "book", minimum: "0.01", maximum: "1000.5" };

/** The error message for a list, with the position of the fault. */
function faultOf(written: unknown): string {
  try {
    assetList.read(written);
    return "none";
  } catch (error) {
    if (!(error instanceof ListFault)) throw error;
    return `assets${error.place} ${error.message}`;
  }
}

describe("the list of assets", () => {
  it("is read into base units", () => {
    expect(assetList.read([euro])).toEqual([
      { code: "EUR", caip19: null, decimals: 2, network: "book", minimum: 1n, maximum: 100_050n },
    ]);
  });

  it("keeps every digit of a limit", () => {
    const maximum = `${"9".repeat(60)}.${"9".repeat(18)}`;
    const [asset] = assetList.read([{ ...euro, decimals: "18", maximum }]);
    expect(asset?.maximum).toBe(BigInt("9".repeat(78)));
  });

  it("can be read back from its formatted entries", () => {
    const text = assetList.default.map((asset) => `- ${showEntry(assetList.show(asset))}`).join("\n");
    expect(text).toContain('code: "USD", decimals: 2,');
    expect(assetList.read(parse(text, { schema: "failsafe" }))).toEqual(assetList.default);
  });

  it.each([
    ["a single value", "EUR", "assets must be a list of 1 to 200 entries"],
    ["no entry", [], "assets must be a list of 1 to 200 entries"],
    [
      "too many entries",
      Array.from({ length: 201 }, () => euro),
      "assets must be a list of 1 to 200 entries",
    ],
    ["an entry that is a string", [euro, "USD"], "assets[1] must be a mapping with code, caip19"],
    [
      "an unknown field",
      [{ ...euro, digits: "2" }],
      "assets[0] has the unknown field digits. The fields are code",
    ],
    [
      "a field of every object",
      [{ ...euro, constructor: "x" }],
      "assets[0] has the unknown field constructor",
    ],
    [
      "a missing field",
      [{ code: "EUR" }],
      "assets[0].decimals is missing: it must be a whole number from 0 to 18",
    ],
    ["a list as a value", [{ ...euro, code: ["EUR"] }], 'assets[0].code is "not a single value"'],
    ["a code with a space", [{ ...euro, code: "E R" }], 'assets[0].code is "E R": it must be 1 to 32'],
    ["a code with a hyphen", [{ ...euro, code: "ETH-USD" }], "assets[0].code is"],
    ["a long code", [{ ...euro, code: "E".repeat(33) }], "assets[0].code is"],
    ["too many decimals", [{ ...euro, decimals: "19" }], 'assets[0].decimals is "19"'],
    ["a malformed identifier", [{ ...euro, caip19: "eip155:1" }], "assets[0].caip19 is"],
    ["a long identifier", [{ ...euro, caip19: `eip155:1/erc20:${"a".repeat(120)}` }], "assets[0].caip19 is"],
    ["a limit of zero", [{ ...euro, minimum: "0" }], 'assets[0].minimum is "0": it must be a decimal number'],
    ["a limit that is finer than the asset", [{ ...euro, minimum: "0.001" }], "assets[0].minimum is"],
    ["a limit in another notation", [{ ...euro, maximum: "1e9" }], 'assets[0].maximum is "1e9"'],
    [
      "a maximum below the minimum",
      [{ ...euro, minimum: "5", maximum: "4" }],
      'assets[0].maximum is "4": it must be at least the minimum, 5',
    ],
    ["a code twice", [euro, euro], 'assets[1].code is "EUR", like entry [0]'],
    ["a code twice in another case", [euro, { ...euro, code: "eur" }], "assets[1].code is"],
    [
      "an identifier twice",
      ["A", "B"].map((code) => ({ ...euro, code, caip19: "eip155:1/slip44:60" })),
      "assets[1].caip19 is",
    ],
  ])("refuses %s and reports its position", (_what, written, message) => {
    expect(faultOf(written)).toContain(message);
  });
});
