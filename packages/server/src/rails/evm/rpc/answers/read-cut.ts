import { type ByteSink, createByteSink } from "./byte-sink.js";
import { type PassedLimits, readPassed } from "./read-passed.js";
import { createTextCut } from "./text-cut.js";
import { createTransactionsCut } from "./transactions-cut.js";

/** What nobody looks at in an answer: long strings, of which the beginning is left, or lists of transactions. */
export type Cut = "text" | "transactions";

/** Reads an answer and cuts it while it arrives, or leaves it as it is, within the limits of `readPassed`. */
export async function readCut(
  body: AsyncIterable<Uint8Array>,
  cut: Cut | undefined,
  limits: PassedLimits,
): Promise<Buffer | undefined> {
  const left = createByteSink();
  return await readPassed(body, { pass: createPass(cut, left), left, ...limits });
}

function createPass(cut: Cut | undefined, left: ByteSink) {
  if (cut === undefined) return left.write;
  return cut === "text" ? createTextCut(left) : createTransactionsCut(left);
}
