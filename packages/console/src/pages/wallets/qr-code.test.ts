import { describe, expect, it } from "vitest";
import { qrCode } from "./qr-code";

/** Each row as hexadecimal digits of its cells. */
const rowsOf = (text: string) =>
  qrCode(text)?.map((row) =>
    BigInt(`0b${row.map(Number).join("")}`)
      .toString(16)
      .padStart(8, "0"),
  );

describe("a QR code", () => {
  it("of an address is the one that another encoder makes, and that readers read", () => {
    expect(rowsOf("0x52908400098527886E0F7030069857D2E4169EE7")).toEqual([
      "1fc5427f",
      "10542841",
      "1741735d",
      "175dbc5d",
      "1748415d",
      "105bf441",
      "1fd5557f",
      "000e3400",
      "1f7aadaa",
      "1e85f251",
      "18442df6",
      "1b014180",
      "06ed7cac",
      "06300155",
      "0f63641a",
      "04be7712",
      "08426daf",
      "15153251",
      "13647490",
      "123554d2",
      "1341bffe",
      "00104315",
      "1fd7fb52",
      "10427513",
      "17523dff",
      "175d88ab",
      "1758e552",
      "1055a312",
      "1fd15c5c",
    ]);
  });

  it.each([
    [17, 21],
    [18, 25],
    [53, 29],
    [78, 33],
  ])("of %i bytes has %i cells a side", (bytes, size) => {
    expect(qrCode("x".repeat(bytes))).toHaveLength(size);
  });

  it("has a limit", () => {
    expect(qrCode("x".repeat(79))).toBeUndefined();
  });
});
