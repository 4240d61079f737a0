import { type BursarError, isBursarError } from "@bursar/client";
import type { Command } from "./commands/command.js";
import type { Running } from "./context.js";
import { CliError, exitCodeOf, exitCodeOfInterruption, exitCodes } from "./exit-codes.js";
import type { Target } from "./profiles/target.js";
import type { Io } from "./terminal/io.js";
import { safe } from "./terminal/safe-text.js";
import { styleOf } from "./terminal/style.js";
import type { SentChange } from "./watch-requests.js";

/** Prints one line that says what has failed, with the code and the id of the request, and returns the exit code. */
export function explainFailure(error: unknown, io: Io, command?: Command, running?: Running): number {
  const style = styleOf(io, "err");
  const say = (line: string) => io.err(`${style.bad("bursar:")} ${safe(line)}\n`);
  const isChange = command?.changes === true || command?.movesMoney === true;
  const change = running?.change();
  if (io.signal.aborted) {
    if (isChange) say(describeInterruption(error, change));
    return exitCodeOfInterruption(io.signal);
  }
  const code = exitCodeOf(error, isChange && change !== undefined);
  if (isBursarError(error)) say(describe(error, code, running?.target()));
  else say(error instanceof Error ? error.message : String(error));
  if (!isBursarError(error) && !(error instanceof CliError))
    io.err(`${((error as Error).stack ?? "").split("\n").map(safe).join("\n")}\n`);
  return code;
}

function describe(error: BursarError, exitCode: number, target: Target | undefined): string {
  const { code, message, requestId, details, idempotencyKey } = error;
  const faults = details.map(({ path, reason }) => ` ${path} ${reason}.`.replace(/\.\.$/, ".")).join("");
  const request = requestId === undefined ? "" : ` (${requestId})`;
  const isUnknown = exitCode === exitCodes.unknown.code;
  const repeat = isUnknown ? ` It may have taken effect: ${howToLearn(idempotencyKey)}` : "";
  return `${code}: ${message}${faults}${repeat}${placeOf(error, target)}${request}`;
}

/** Without an answer, the service may not run, or the profile may be the wrong one. The message has the address. */
function placeOf({ status, code }: BursarError, target: Target | undefined): string {
  if (target === undefined || status !== undefined || !["CONNECTION_FAILED", "TIMEOUT"].includes(code))
    return "";
  const { name, url } = target;
  if (name === "sandbox") return " This is the sandbox: is `npm start` running?";
  return `${name === url ? "" : ` This is the profile ${name}.`} \`bursar doctor\` looks for the cause.`;
}

function describeInterruption(error: unknown, change: SentChange | undefined): string {
  if (change === undefined) return "Interrupted. Nothing was changed.";
  if (change.isAnswered) return "Interrupted.";
  if (isBursarError(error) && error.outcome === "not_sent")
    return `Interrupted. ${change.operation} was not sent.`;
  return `Interrupted while ${change.operation} was under way. It may have taken effect: ${howToLearn(change.idempotencyKey)}`;
}

function howToLearn(idempotencyKey: string | undefined): string {
  return idempotencyKey === undefined
    ? "look before you repeat the command."
    : `repeat the command with --idempotency-key ${idempotencyKey}.`;
}
