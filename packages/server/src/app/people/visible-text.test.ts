import { describe, expect, it } from "vitest";
import { isVisibleAddress } from "./visible-text.js";

describe("an address", () => {
  it.each(["ada@treasury.example", "zoë@büro.example", "δοκιμή@παράδειγμα.example", "用户@例子.example"])(
    "may be %s",
    (email) => {
      expect(isVisibleAddress(email)).toBe(true);
    },
  );

  it.each([
    ["a zero-width space", "ada\u200b@treasury.example"],
    ["a mark of direction", "ada@treasury.example\u202e"],
    ["a soft hyphen", "ad\u00ada@treasury.example"],
    ["a control", "ada\u0007@treasury.example"],
    ["a filler that has no glyph", "ada\u3164@treasury.example"],
    ["a variation selector", "ada\ufe0f@treasury.example"],
    ["a tag", "ada\u{e0061}@treasury.example"],
    ["a private character", "ada\ue000@treasury.example"],
    ["half of a pair", "ada\ud83d@treasury.example"],
    ["a full-width dot", "ada@treasury\uff0eexample"],
    ["the Kelvin sign", "\u212aim@treasury.example"],
    ["letters that are not composed", "zoe\u0308@treasury.example"],
  ])("must not have %s", (_what, email) => {
    expect(isVisibleAddress(email)).toBe(false);
  });
});
