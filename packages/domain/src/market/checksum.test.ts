import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { addToCrc32, checksumDepth, crc32AtFirst, finishCrc32 } from "./checksum.js";

/** The example in Kraken's documentation of its first book channel. */
const size = "0.00000500";
const asks = ["5005", "5010", "5015", "5020", "5025", "5030", "5035", "5040", "5045", "5050"];
const bids = ["5000", "4995", "4990", "4980", "4975", "4970", "4965", "4960", "4955", "4950"];
const levels = (prices: string[]) => prices.map((price): [string, string] => [`0.0${price}`, size]);

describe("the checksum of a depth", () => {
  it("is the one that Kraken documents", () => {
    expect(checksumDepth(levels(asks), levels(bids))).toBe(974947235);
  });

  it("covers ten levels of each side, or all if there are fewer", () => {
    const more: [string, string] = ["0.09999", size];
    expect(checksumDepth([...levels(asks), more], [...levels(bids), more])).toBe(974947235);
    expect(checksumDepth([], [])).toBe(0);
  });

  it("changes with the order of levels and with each digit", () => {
    const other = levels(asks).with(9, ["0.05050", "0.00000501"]);
    expect(checksumDepth(other, levels(bids))).not.toBe(974947235);
    expect(checksumDepth(levels(asks).reverse(), levels(bids))).not.toBe(974947235);
  });
});

describe("CRC-32", () => {
  it.each(["", "123456789", "50055005010500"])("of %j is that of zlib", (text) => {
    expect(finishCrc32(addToCrc32(crc32AtFirst, text))).toBe(crc32(text));
  });
});
