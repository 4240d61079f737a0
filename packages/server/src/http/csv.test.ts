import { describe, expect, it } from "vitest";
import { toCsv, wantsCsv } from "./csv.js";

describe("CSV", () => {
  it.each([
    [["a", 1, null], "a,1,\r\n"],
    [["-125.5", "0", "-3"], "-125.5,0,-3\r\n"],
    [["=1+1", "+1", "@x", "-x", "-1-1"], "'=1+1,'+1,'@x,'-x,'-1-1\r\n"],
    [["\t=1", "\r=1", " =1", "＝1"], `"'\t=1","'\r=1",' =1,'＝1\r\n`],
    [["x;=1+1", "x; -y", "a;b"], `"x;'=1+1","x;' -y","a;b"\r\n`],
    [['say "a, b"', "two\r\nlines"], '"say ""a, b""","two\r\nlines"\r\n'],
    [['=HYPERLINK("http://x","y")'], `"'=HYPERLINK(""http://x"",""y"")"\r\n`],
  ])("shows %j", (cells, line) => {
    expect(toCsv([cells])).toBe(line);
  });

  it.each([
    ["text/csv", true],
    ["Text/CSV; charset=utf-8", true],
    ["text/csv, application/json;q=0.5", true],
    ["application/json, text/csv", false],
    ["*/*", false],
    ["", false],
    [undefined, false],
    [`${"a,".repeat(2000)}text/csvx`, false],
  ])("is wanted by Accept: %s: %s", (accept, wanted) => {
    expect(wantsCsv({ headers: accept === undefined ? {} : { accept } })).toBe(wanted);
  });
});
