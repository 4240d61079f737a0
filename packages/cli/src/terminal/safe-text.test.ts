import { describe, expect, it } from "vitest";
import { safe, safeJson } from "./safe-text.js";

const unseen = [
  "\u001b",
  "\n",
  "\u202e",
  "\u200b",
  "\u2028",
  "\u3164",
  "\uffa0",
  "\u034f",
  "\ufe0f",
  "\u{e0061}",
  "\u{e0100}",
];

describe("a string of the service", () => {
  it.each(unseen)("shows %j as an escape", (character) => {
    expect(safe(`a${character}b`)).toBe(`a\\u{${character.codePointAt(0)?.toString(16)}}b`);
  });

  it("shows letters of any script as they are", () => {
    expect(safe("Zoë 用户 😀 علی")).toBe("Zoë 用户 😀 علی");
  });

  it("stays the same value as JSON", () => {
    const json = safeJson({ a: unseen }, 2);
    expect(JSON.parse(json)).toEqual({ a: unseen });
    expect(json.replaceAll("\n", "")).not.toMatch(/[\p{C}\p{Default_Ignorable_Code_Point}]/u);
  });
});
