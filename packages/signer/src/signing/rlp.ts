/** What an EIP-1559 transaction consists of: numbers without leading zeros, byte strings, and an empty list. */
export type RlpItem = bigint | Uint8Array | readonly RlpItem[];

/** Recursive length prefix, the encoding of the yellow paper, appendix B. */
export function encodeRlp(item: RlpItem): Uint8Array {
  if (typeof item === "bigint") return encodeRlp(bytesOfNumber(item));
  if (item instanceof Uint8Array) {
    if (item.length === 1 && (item[0] as number) < 0x80) return item;
    return concat([prefix(item.length, 0x80), item]);
  }
  const content = concat(item.map(encodeRlp));
  return concat([prefix(content.length, 0xc0), content]);
}

/** Big-endian, without leading zeros; zero is empty. */
function bytesOfNumber(value: bigint): Uint8Array {
  if (value < 0n) throw new RangeError("a number in RLP is not negative");
  if (value === 0n) return new Uint8Array();
  const hex = value.toString(16);
  return new Uint8Array(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex"));
}

function prefix(length: number, base: 0x80 | 0xc0): Uint8Array {
  if (length < 56) return Uint8Array.of(base + length);
  const size = bytesOfNumber(BigInt(length));
  return Uint8Array.of(base + 55 + size.length, ...size);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
