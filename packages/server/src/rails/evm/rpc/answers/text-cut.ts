import type { ByteSink } from "./byte-sink.js";

const [quote, backslash] = [0x22, 0x5c];
/** Even, so that bytes in hexadecimal stay whole. Nothing that is read of a block or a log has more; its filter has 514. */
const textMax = 2048;

/** Writes JSON as it arrives, and of each string only the beginning. */
export function createTextCut({ write }: Pick<ByteSink, "write">): (piece: Uint8Array) => void {
  let isInString = false;
  let isEscaped = false;
  let isCutting = false;
  let length = 0;
  return (piece) => {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at];
      if (!isInString) {
        isInString = byte === quote;
        length = 0;
        continue;
      }
      if (byte === quote && !isEscaped) {
        isInString = false;
        if (isCutting) from = at;
        isCutting = false;
        continue;
      }
      isEscaped = byte === backslash && !isEscaped;
      length += 1;
      if (isCutting || isEscaped || length < textMax) continue;
      write(piece.subarray(from, at + 1));
      isCutting = true;
    }
    if (!isCutting) write(piece.subarray(from));
  };
}
