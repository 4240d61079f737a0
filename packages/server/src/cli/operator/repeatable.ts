import { randomBytes } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { isIdempotencyKey } from "../../http/access/idempotency-key.js";
import { OperatorError, UnknownOutcome } from "../../operator-error.js";
import { OutcomeUnknownError } from "../../store/core/database-unavailable-error.js";
import { printError } from "../print.js";

export const keyOption = [
  "--key <key>",
  "an idempotency key: a repeated command with the same key does nothing and prints the same result",
] as const;

export function keyArgument(text: string): string {
  if (isIdempotencyKey(text)) return text;
  throw new InvalidArgumentError(
    "The key must have 1 to 255 visible ASCII characters, without quotes and backslashes.",
  );
}

export function keyReused(key: string): OperatorError {
  return new OperatorError(
    `The key ${key} was used for a command with other arguments. Repeat that command exactly, or use another key.`,
  );
}

/**
 * Runs a command that can be repeated under its key. Without one, a key is made up and printed when the work takes it, before anything is
 * written, because after a crash it is too late. It is printed to standard error, so that the output stays what scripts expect.
 */
export async function repeatable<T>(
  given: string | undefined,
  work: (takeKey: () => string) => Promise<T>,
): Promise<T> {
  const key = given ?? `op-${randomBytes(12).toString("hex")}`;
  const takeKey = () => {
    if (given === undefined) printError(`If the outcome is unknown, repeat the command with --key ${key}`);
    return key;
  };
  try {
    return await work(takeKey);
  } catch (error) {
    if (!(error instanceof OutcomeUnknownError)) throw error;
    throw new UnknownOutcome(
      `The outcome is unknown: the connection to the database was lost during the commit. Repeat the command with --key ${key}; it is carried out at most once.`,
      { cause: error },
    );
  }
}
