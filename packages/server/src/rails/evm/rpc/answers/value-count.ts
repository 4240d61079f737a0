/** Counts what has to be made of JSON when it is parsed, while its bytes arrive. */
export interface ValueCount {
  readonly see: (piece: Uint8Array) => void;
  /** Whether there is more than any honest answer of this length has. */
  readonly isTooMany: () => boolean;
}

const [quote, backslash, colon, comma, openBracket, openBrace] = [0x22, 0x5c, 0x3a, 0x2c, 0x5b, 0x7b];

/**
 * Bytes for each value, on average. The smallest ones that a sender can fill a block with are entries of access lists without keys: 74 bytes for
 * four, counted as below. Transactions, receipts and logs have 25 and more for each.
 */
const bytesPerValue = 16;
/** Short answers can be denser: fee histories, and the results of a batch. */
const valuesFree = 1024;
/** Different names of fields. Blocks, receipts and errors of all known chains have less than a hundred together. */
const keysMax = 512;
const [hashBasis, hashPrime] = [0x811c9dc5, 0x01000193];

/**
 * All of an answer is parsed at once, on the event loop. What that takes depends on how many values there are, and on how many different keys, more
 * than on bytes: 32 MiB of `{}` took 12 s and 1.2 GB, and 28 MB of different keys 9 s, but a block of that size 0.2 s. A value is counted by the
 * comma before it, or the bracket that it opens.
 */
export function createValueCount(): ValueCount {
  const keys = new Set<number>();
  let bytes = 0;
  let values = 0;
  let isInString = false;
  let isEscaped = false;
  /** Of the last string. */
  let hash = hashBasis;
  return {
    see: (piece) => {
      bytes += piece.length;
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at] as number;
        if (isInString) {
          if (byte === quote && !isEscaped) isInString = false;
          else hash = Math.imul(hash ^ byte, hashPrime);
          isEscaped = byte === backslash && !isEscaped;
        } else if (byte === quote) {
          isInString = true;
          hash = hashBasis;
        } else if (byte === comma || byte === openBrace || byte === openBracket) values += 1;
        else if (byte === colon && keys.size <= keysMax) keys.add(hash);
      }
    },
    isTooMany: () => keys.size > keysMax || values > valuesFree + bytes / bytesPerValue,
  };
}
