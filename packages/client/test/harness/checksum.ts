import { crc32 } from "node:zlib";

/** The checksum of a book as it is documented, made by another implementation. */
export function checksumOf(asks: readonly [string, string][], bids: readonly [string, string][]): number {
  const digits = [...asks.slice(0, 10), ...bids.slice(0, 10)]
    .flat()
    .map((amount) => amount.replace(".", "").replace(/^0+/, ""));
  return crc32(digits.join(""));
}
