import { expect, it } from "vitest";
import { toCsv } from "./csv";

it.each([
  ["-125.5", "-125.5"],
  ["=1+1", "'=1+1"],
  ["\u00a0=1", "'\u00a0=1"],
  ["x;=1+1", `"x;'=1+1"`],
  ['a;b, "c"', `"a;b, ""c"""`],
])("a spreadsheet takes %j for no formula", (text, cell) => {
  expect(toCsv([["name", (row: string) => row]], [text])).toBe(`name\r\n${cell}\r\n`);
});
