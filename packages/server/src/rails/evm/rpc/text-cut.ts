import { arePiecesTooSmall } from "../../../runtime/read-bounded.js";
import { type ByteSink, createByteSink } from "./byte-sink.js";

const [quote, backslash] = [0x22, 0x5c];
/** Even, so that bytes in hexadecimal stay whole. Nothing that is read of a block or a log has more; its filter has 514. */
const textMax = 2048;

/** Writes JSON as it arrives, and of each string only the beginning. */
function createTextCut({ write }: ByteSink): (piece: Uint8Array) => void {
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

/**
 * Reads an answer in which strings are cut. Undefined if more than `leftMax` bytes are left of it, if it has more than `readMax` bytes, or if it comes
 * in too many small pieces. Leaving the loop ends the connection.
 */
export async function readWithCutText(
  body: AsyncIterable<Uint8Array>,
  { leftMax, readMax }: { readonly leftMax: number; readonly readMax: number },
): Promise<Buffer | undefined> {
  const left = createByteSink();
  const pass = createTextCut(left);
  let readBytes = 0;
  let pieces = 0;
  for await (const piece of body) {
    pieces += 1;
    readBytes += piece.length;
    pass(piece);
    if (readBytes > readMax || left.bytes() > leftMax || arePiecesTooSmall(pieces, readBytes))
      return undefined;
  }
  return left.whole();
}
