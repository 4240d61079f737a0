import { arePiecesTooSmall } from "../../../runtime/read-bounded.js";
import { createByteSink } from "./byte-sink.js";
import { createTextCut } from "./text-cut.js";
import { createTransactionsCut } from "./transactions-cut.js";

/** What nobody looks at in an answer: long strings, of which the beginning is left, or lists of transactions. */
export type Cut = "text" | "transactions";

/**
 * Reads an answer and cuts it while it arrives. Undefined if more than `leftMax` bytes are left of it, if it has more than `readMax` bytes, or if it
 * comes in too many small pieces. Leaving the loop ends the connection.
 */
export async function readCut(
  body: AsyncIterable<Uint8Array>,
  cut: Cut,
  { leftMax, readMax }: { readonly leftMax: number; readonly readMax: number },
): Promise<Buffer | undefined> {
  const left = createByteSink();
  const pass = cut === "text" ? createTextCut(left) : createTransactionsCut(left);
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
