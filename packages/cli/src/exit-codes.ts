import { isBursarError } from "@bursar/client";

/** The exit codes, with what each means. The README and `bursar help exit-codes` show this table. */
export const exitCodes = {
  done: { code: 0, means: "done" },
  refused: { code: 1, means: "refused by the service, declined at the prompt, or a check that failed" },
  usage: { code: 2, means: "wrong arguments, options, profile or file" },
  unknown: {
    code: 3,
    means: "the outcome is unknown: repeat the command with the idempotency key that it printed",
  },
  unauthorized: { code: 4, means: "the credentials were refused, or lack a scope" },
  unavailable: { code: 5, means: "the service cannot be reached or is overloaded; nothing was changed" },
  ended: { code: 6, means: "the transaction ended as rejected, failed or cancelled" },
  output: {
    code: 7,
    means: "the output could not be written, as on a full disk; what was asked for may have been done",
  },
  hungUp: { code: 129, means: "ended because the terminal was closed (SIGHUP), otherwise as 130" },
  interrupted: {
    code: 130,
    means: "interrupted by Ctrl-C (SIGINT); the message says if a change may have taken effect",
  },
  closedPipe: { code: 141, means: "the reader of the output has ended" },
  terminated: { code: 143, means: "ended by SIGTERM, otherwise as 130" },
} as const;

/** Why a command is interrupted: the reason of the `AbortSignal` that it gets. */
export class Interruption extends Error {
  readonly exitCode: number;

  constructor(exit: "hungUp" | "interrupted" | "terminated" | "closedPipe" | "output") {
    super("Interrupted.");
    this.exitCode = exitCodes[exit].code;
  }
}

export function exitCodeOfInterruption({ reason }: AbortSignal): number {
  return reason instanceof Interruption ? reason.exitCode : exitCodes.interrupted.code;
}

/** A failure that is explained in one sentence. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, exit: keyof typeof exitCodes = "refused", options?: { cause?: unknown }) {
    super(message, options);
    this.exitCode = exitCodes[exit].code;
  }
}

export function usage(message: string): CliError {
  return new CliError(message, "usage");
}

const codesOfCredentials = [
  "CREDENTIALS_INVALID",
  "INVALID_CLIENT",
  "INVALID_SCOPE",
  "UNAUTHENTICATED",
  "INSUFFICIENT_SCOPE",
];
const statusesOfOverload = [408, 429, 502, 503, 504];

/** The exit code of a failed command. Only a command that changes something can have an unknown outcome. */
export function exitCodeOf(error: unknown, isChange: boolean): number {
  if (error instanceof CliError) return error.exitCode;
  if (!isBursarError(error)) return exitCodes.refused.code;
  const { code, status, outcome } = error;
  if (code === "ABORTED") return exitCodes.interrupted.code;
  if (code === "INVALID_ARGUMENT") return exitCodes.usage.code;
  if (outcome === "unknown" && isChange) return exitCodes.unknown.code;
  if (codesOfCredentials.includes(code) || status === 401) return exitCodes.unauthorized.code;
  if (status === undefined || statusesOfOverload.includes(status) || outcome === "unknown")
    return exitCodes.unavailable.code;
  return exitCodes.refused.code;
}
