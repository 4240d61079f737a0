import { describe, expect, it } from "vitest";
import { readProxyHeader } from "./proxy-header.js";

const signature = "0d0a0d0a000d0a515549540a";
const bytes = (hex: string) => Buffer.from(hex.replaceAll(" ", ""), "hex");
const tcp4 = `${signature} 21 11 000c c0000201 0a000001 d431 01bb`;
const tcp6 = `${signature} 21 21 0024 20010db8000000000000000000000007 fd000000000000000000000000000001 d431 01bb`;

describe("the header of the PROXY protocol", () => {
  it.each([
    ["IPv4", tcp4, { length: 28, address: "192.0.2.1" }],
    ["IPv6", tcp6, { length: 52, address: "2001:db8::7" }],
    [
      "IPv4 in IPv6",
      `${signature} 21 21 0024 00000000000000000000ffffc0000201 fd000000000000000000000000000001 d431 01bb`,
      { length: 52, address: "::ffff:192.0.2.1" },
    ],
    ["LOCAL", `${signature} 20 00 0000`, { length: 16, address: undefined }],
    ["LOCAL with bytes to skip", `${signature} 20 11 0004 01020304`, { length: 20, address: undefined }],
    ["an unspecified family", `${signature} 21 00 0000`, { length: 16, address: undefined }],
    [
      "extensions after the addresses",
      `${signature} 21 11 000f c0000201 0a000001 d431 01bb 040000`,
      { length: 31, address: "192.0.2.1" },
    ],
    ["a request behind it", `${tcp4} 474554`, { length: 28, address: "192.0.2.1" }],
  ])("is read with %s", (_what, hex, expected) => {
    expect(readProxyHeader(bytes(hex))).toEqual(expected);
  });

  it("is incomplete until its last byte", () => {
    for (const hex of [tcp4, tcp6]) {
      const whole = bytes(hex);
      for (let length = 0; length < whole.length; length++)
        expect(readProxyHeader(whole.subarray(0, length))).toBe("incomplete");
    }
  });

  it.each([
    ["an HTTP request", Buffer.from("GET / HTTP/1.1\r\n").toString("hex")],
    ["version 1", Buffer.from("PROXY TCP4 192.0.2.1 10.0.0.1 1 2\r\n").toString("hex")],
    ["another version", `${signature} 31 11 000c c0000201 0a000001 d431 01bb`],
    ["an unknown command", `${signature} 22 11 000c c0000201 0a000001 d431 01bb`],
    ["UDP", `${signature} 21 12 000c c0000201 0a000001 d431 01bb`],
    ["a UNIX socket", `${signature} 21 31 000c c0000201 0a000001 d431 01bb`],
    ["too few bytes for its addresses", `${signature} 21 11 000b c0000201 0a000001 d431 01`],
    ["IPv6 with the length of IPv4", `${signature} 21 21 000c c0000201 0a000001 d431 01bb`],
    ["a length beyond the limit", `${signature} 21 11 0801`],
    ["a wrong byte in the signature", tcp4.replace("515549", "515550")],
  ])("is refused with %s", (_what, hex) => {
    expect(readProxyHeader(bytes(hex))).toBe("malformed");
  });
});
