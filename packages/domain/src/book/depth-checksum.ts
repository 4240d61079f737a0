import { addToCrc32, crc32AtFirst, finishCrc32 } from "./crc32.js";

/** A level as it is on the wire. */
type FormattedLevel = readonly [price: string, size: string, ...rest: unknown[]];

const levelsCounted = 10;

/**
 * The checksum of a depth as Kraken documents it: CRC-32 over the ten best asks and then the ten best bids, best first, each as its
 * price and its size without point and leading zeros. A reader that has missed a change, or has it at the wrong level, sees it here.
 */
export function checksumDepth(asks: readonly FormattedLevel[], bids: readonly FormattedLevel[]): number {
  let crc = crc32AtFirst;
  for (const side of [asks, bids])
    for (const [price, size] of side.slice(0, levelsCounted)) {
      crc = addToCrc32(addToCrc32(crc, digitsOf(price)), digitsOf(size));
    }
  return finishCrc32(crc);
}

function digitsOf(amount: string): string {
  return amount.replace(".", "").replace(/^0+/, "");
}
