import { keccak, toBytes } from "../keccak.js";

/**
 * The bloom filter of a block, 2048 bits: the address and the topics of every log set three bits each. It says that a log is certainly
 * not there, or that it may be.
 */
export interface BloomItem {
  /** The digit of the hexadecimal filter and the bit in it, three times. */
  readonly bits: readonly { readonly digit: number; readonly mask: number }[];
}

export function bloomItem(hex: string): BloomItem {
  const hash = keccak(toBytes(hex));
  const bits = [0, 2, 4].map((at) => {
    const bit = (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
    // Bit 0 is the last one; `0x` comes first.
    return { digit: 2 + 511 - (bit >> 2), mask: 1 << (bit & 3) };
  });
  return { bits };
}

export function mayContain(bloom: string, item: BloomItem): boolean {
  return item.bits.every(({ digit, mask }) => (Number.parseInt(bloom.charAt(digit), 16) & mask) !== 0);
}
