import { arePiecesTooSmall } from "../../../../runtime/read-bounded.js";
import type { ByteSink } from "./byte-sink.js";

export interface PassedLimits {
  readonly leftMax: number;
  readonly readMax: number;
}

/** What is left of an answer has more values than any honest one. */
class TooManyValuesError extends Error {
  readonly code = "TOO_MANY_VALUES";
}

interface Passage extends PassedLimits {
  readonly pass: (piece: Uint8Array) => void;
  readonly left: ByteSink;
  /** How many bytes are neither left nor dropped yet. */
  readonly heldBytes?: () => number;
}

/**
 * Reads an answer through something that leaves parts of it out while it arrives. Undefined if more than `leftMax` bytes are left of it, if it has
 * more than `readMax` bytes, or if it comes in too many small pieces. An error if parsing what is left would take too long for its bytes. Leaving
 * the loop ends the connection.
 */
export async function readPassed(
  body: AsyncIterable<Uint8Array>,
  { pass, left, heldBytes = () => 0, leftMax, readMax }: Passage,
): Promise<Buffer | undefined> {
  let readBytes = 0;
  let pieces = 0;
  for await (const piece of body) {
    pieces += 1;
    readBytes += piece.length;
    pass(piece);
    const isTooLarge = readBytes > readMax || left.bytes() + heldBytes() > leftMax;
    if (left.hasTooManyValues()) throw new TooManyValuesError();
    if (isTooLarge || arePiecesTooSmall(pieces, readBytes)) return undefined;
  }
  return left.whole();
}
