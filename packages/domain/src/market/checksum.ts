/** A level as clients see it. */
type FormattedLevel = readonly [price: string, size: string, ...rest: unknown[]];

const levelsCounted = 10;

/**
 * The checksum of a depth as Kraken documents it: CRC-32 over the ten best asks and then the ten best bids, best first, each as its
 * price and its size without point and leading zeros. It reveals to a client that its copy of the book is wrong.
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

/** CRC-32 as in ISO 3309 and zlib, over strings. The domain has no dependencies, and not every Node 20 has `zlib.crc32`. */
export const crc32AtFirst = 0xffffffff;

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** Continues with a string. A character beyond ASCII counts as its UTF-16 code, low byte first. */
export function addToCrc32(crc: number, text: string): number {
  let value = crc;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    value = (value >>> 8) ^ (table[(value ^ code) & 0xff] as number);
    if (code > 0x7f) value = (value >>> 8) ^ (table[(value ^ (code >>> 8)) & 0xff] as number);
  }
  return value;
}

export function finishCrc32(crc: number): number {
  return (crc ^ 0xffffffff) >>> 0;
}
