import { describe, expect, it } from "vitest";
import { isVisibleLine, isVisibleText } from "./visible-text.js";

describe("a label", () => {
  it.each([
    "Ada Lovelace",
    "Zoe\u0308",
    "用户 2",
    "مشتری",
    "علی\u200cرضا",
    "क्\u200dष",
    "Ada 👩\u200d💻 👩🏽\u200d🚀",
    "❤\ufe0f and 1\ufe0f\u20e3",
    "🏳\ufe0f\u200d🌈🇨🇭",
    "<b>'; --",
  ])("may be %s", (label) => {
    expect(isVisibleLine(label)).toBe(true);
  });

  it.each([
    ["a mark of direction", "Ada\u202e"],
    ["an isolate", "Ada\u2066"],
    ["a control", "Ada\u0007"],
    ["a line feed", "Ada\nGrace"],
    ["an end of a line", "Ada\u2028"],
    ["a tag", "Ada\u{e0061}"],
    ["a filler", "Ada\u3164"],
    ["a filler of half the width", "Ada\uffa0"],
    ["a grapheme joiner", "Ada\u034f"],
    ["a vowel that nobody sees", "Ada\u17b4"],
    ["a variation selector", "Ada\ufe0f"],
    ["a variation selector after an emoji and another", "😀\ufe0f\ufe0f"],
    ["a variation selector of the supplement", "😀\u{e0100}"],
    ["a joiner between letters that do not join", "A\u200dda"],
    ["a joiner at the end", "علی\u200c"],
    ["a joiner of an emoji and a letter", "😀\u200dA"],
    ["half of a pair", "Ada\ud83d"],
    ["a private character", "Ada\ue000"],
  ])("must not have %s", (_what, label) => {
    expect(isVisibleLine(label)).toBe(false);
  });
});

describe("a comment", () => {
  it("may have lines", () => {
    expect(isVisibleText("Seen the invoice.\n\nAda")).toBe(true);
  });

  it.each(["a\rb", "a\tb", "a\u2028b", "a\n\u202eb"])("must not be %j", (comment) => {
    expect(isVisibleText(comment)).toBe(false);
  });
});
