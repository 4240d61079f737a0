/** Recursive length prefix, the encoding of Ethereum's transactions: of byte strings, numbers and lists of these. */
export type RlpItem = Uint8Array | bigint | readonly RlpItem[];

export function encodeRlp(item: RlpItem): Buffer {
  if (typeof item === "bigint") return encodeRlp(numberBytes(item));
  if (!(item instanceof Uint8Array)) {
    const content = Buffer.concat(item.map(encodeRlp));
    return Buffer.concat([prefixOf(content.length, 0xc0), content]);
  }
  if (item.length === 1 && (item[0] as number) < 0x80) return Buffer.from(item);
  return Buffer.concat([prefixOf(item.length, 0x80), item]);
}

/** A length of up to 55 is part of the first byte; a longer one follows it, and the first byte says in how many bytes. */
function prefixOf(length: number, offset: number): Buffer {
  if (length <= 55) return Buffer.of(offset + length);
  const digits = numberBytes(BigInt(length));
  return Buffer.concat([Buffer.of(offset + 55 + digits.length), digits]);
}

/** Big-endian without leading zeros, so that zero is empty. */
function numberBytes(value: bigint): Buffer {
  const hex = value === 0n ? "" : value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
}
