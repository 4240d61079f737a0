import { expect, it } from "vitest";
import { printable } from "./printable.js";

it.each([
  ["Ada's bank, Zürich 🏦", "Ada's bank, Zürich 🏦"],
  ["a\u001b[2Jb", "a\\u{1b}[2Jb"],
  ["one\ntwo\u0085three\u2028four", "one\\u{a}two\\u{85}three\\u{2028}four"],
  ["txt.exe\u202egpj", "txt.exe\\u{202e}gpj"],
])("escapes the control characters of %j", (text, written) => {
  expect(printable(text)).toBe(written);
});
