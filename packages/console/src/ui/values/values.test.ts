import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { groupsOfFour } from "./address";
import { Amount, groupsOf } from "./amount";
import { AssetDecimals, padded } from "./asset-decimals";
import { durationOf } from "./countdown";
import { partsOf } from "./foreign-text";

describe("a string of somebody else", () => {
  it.each([
    ["a mark that turns the direction", "pay\u202Eexe.fdp", ["pay", "U+202E", "exe.fdp"]],
    ["a space without width", "ab\u200Bc", ["ab", "U+200B", "c"]],
    ["a control character", "\u0007x", ["U+0007", "x"]],
    ["an isolate", "\u2066a\u2069", ["U+2066", "a", "U+2069"]],
    ["a line separator", "a\u2028b", ["a", "U+2028", "b"]],
    ["a tag", "a\u{E0041}", ["a", "U+E0041"]],
    ["a filler of Hangul", "\u3164", ["U+3164"]],
  ])("names %s", (_, text, parts) => {
    expect(partsOf(text).map((part) => part.text)).toEqual(parts);
  });

  it("is one part if all of it can be seen", () => {
    expect(partsOf("Überweisung 東京 🚀")).toEqual([{ text: "Überweisung 東京 🚀", isHidden: false }]);
  });
});

describe("an amount", () => {
  it.each([
    ["0", ["0"]],
    ["123", ["123"]],
    ["1234", ["1", "234"]],
    ["-123456", ["-123", "456"]],
    ["-1234.5", ["-1", "234.5"]],
    ["1234567.891234", ["1", "234", "567.891234"]],
    ["0.000000000000000001", ["0.000000000000000001"]],
  ])("keeps every digit of %s", (value, groups) => {
    expect(groupsOf(value).map(({ digits }) => digits)).toEqual(groups);
    expect(groups.join("")).toBe(value);
  });
});

describe("an address", () => {
  it.each([
    ["0x52908400ab", ["0x", "5290", "8400", "ab"]],
    ["bc1qar0", ["bc1q", "ar0"]],
  ])("keeps every character of %s", (address, groups) => {
    expect(groupsOfFour(address).map(({ group }) => group)).toEqual(groups);
  });
});

describe("a duration", () => {
  it.each([
    [0, "0 s"],
    [1, "1 s"],
    [61_000, "1 min 1 s"],
    [7_500_000, "2 h 5 min"],
    [90_000_000, "1 d 1 h"],
    [86_400_000, "1 d"],
  ])("of %i ms is %s", (ms, words) => {
    expect(durationOf(ms)).toBe(words);
  });
});

it("an amount of a column that names the asset has the same decimals as one beside its asset", () => {
  const shown = (isNamed: boolean) =>
    renderToStaticMarkup(
      createElement(
        AssetDecimals.Provider,
        { value: new Map([["USD", 2]]) },
        createElement(Amount, { value: "1004.5", asset: "USD", isNamed }),
      ),
    ).replaceAll(/<[^>]*>/g, "");
  expect([shown(true), shown(false)]).toEqual(["1004.50 USD", "1004.50"]);
});

it("money has all of its decimals, and no other amount is changed", () => {
  const shown = (["500.5", "25", "0", "-1.25", "1.234"] as const).map((value) => padded(value, 2));
  expect(shown).toEqual(["500.50", "25.00", "0.00", "-1.25", "1.234"]);
  for (const decimals of [undefined, 0, 18]) expect(padded("500.5", decimals)).toBe("500.5");
});
