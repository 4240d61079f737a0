import type { Session } from "./session.js";

type Run = Pick<Session, "reference" | "runId">;

/** Room for the characters that a check adds to a name. */
const addedMax = 4;
/** More names than any run makes have this many digits. */
const counterDigits = 4;

/** Names of one run begin alike, and have the form of references that the target file states or that was found out. */
export function namePrefixOf({ reference, runId }: Run): string {
  const { characters, maxLength = Number.POSITIVE_INFINITY } = reference;
  const lengthMax = maxLength - addedMax - counterDigits;
  const run = characters === "digits" ? BigInt(`0x${runId}`).toString() : runId;
  const usual = { digits: run, alphanumeric: `conformance${run}`, ascii: `conformance-${run}-` };
  const prefix = usual[characters ?? "ascii"];
  return prefix.length <= lengthMax ? prefix : run.slice(-lengthMax);
}

/** The name of this number. All are of one length, so that a target which takes the first one does not refuse later ones for theirs. */
export function nameOf(run: Run, counter: number): string {
  return namePrefixOf(run) + String(counter).padStart(counterDigits, "0");
}
