import { createByteSink } from "./byte-sink.js";
import { type PassedLimits, readPassed } from "./read-passed.js";
import { createTextCut } from "./text-cut.js";
import { createTransactionsCut } from "./transactions-cut.js";

/** What nobody looks at in an answer: long strings, of which the beginning is left, or lists of transactions. */
export type Cut = "text" | "transactions";

/** Reads an answer and cuts it while it arrives, within the limits of `readPassed`. */
export async function readCut(
  body: AsyncIterable<Uint8Array>,
  cut: Cut,
  limits: PassedLimits,
): Promise<Buffer | undefined> {
  const left = createByteSink();
  const pass = cut === "text" ? createTextCut(left) : createTransactionsCut(left);
  return await readPassed(body, { pass, left, ...limits });
}
