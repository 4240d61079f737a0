import type { ServiceErrorCode } from "../generated/error-codes.js";
import type { ErrorDetail } from "../generated/schemas.js";

/** The errors that arise in the client itself. */
export type ClientErrorCode =
  /** The signal of the caller was aborted. */
  | "ABORTED"
  /** No connection, or it was lost before the whole response had arrived. */
  | "CONNECTION_FAILED"
  /** The credentials cannot be used here, or do not allow this call. */
  | "CREDENTIALS_INVALID"
  /** The call cannot be made like this: an argument has an invalid value. */
  | "INVALID_ARGUMENT"
  /** The service has refused the credentials. */
  | "INVALID_CLIENT"
  /** The credentials do not have a requested scope. */
  | "INVALID_SCOPE"
  /** The response is not one of the service. */
  | "RESPONSE_INVALID"
  /** The service closed a stream because of what the client did, or may not do. */
  | "STREAM_REFUSED"
  /** The response did not arrive in time. */
  | "TIMEOUT"
  /** The platform has no WebSocket, and the package `ws` is not installed. */
  | "WEBSOCKET_MISSING";

/** Every code that the client knows. The service may add codes, so a code can also be another string. */
export type BursarErrorCode = ServiceErrorCode | ClientErrorCode;

/**
 * What is known about the effect of a failed call.
 * - `refused`: the service answered, and nothing was changed.
 * - `not_sent`: the request has not reached the service, and nothing was changed.
 * - `unknown`: an attempt may have had its effect. Repeat the call with the same idempotency key to learn it.
 */
export type Outcome = "refused" | "not_sent" | "unknown";

export interface BursarErrorFields<Code extends string> {
  code: Code;
  message: string;
  outcome: Outcome;
  attempts: number;
  status?: number | undefined;
  requestId?: string | undefined;
  docUrl?: string | undefined;
  details?: readonly ErrorDetail[] | undefined;
  idempotencyKey?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** The one error that a call fails with. It holds neither credentials nor the body of the request. */
export class BursarError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly outcome: Outcome;
  /** How often the request was sent, or was tried to be sent. */
  readonly attempts: number;
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** Identifies the request in the log of the service. */
  readonly requestId: string | undefined;
  /** The entry of the code in the error reference. */
  readonly docUrl: string | undefined;
  /** The fields at fault, if any. */
  readonly details: readonly ErrorDetail[];
  /** The key of a creating call, given or generated. */
  readonly idempotencyKey: string | undefined;
  /** How long the service asked to wait before the next attempt. */
  readonly retryAfterMs: number | undefined;

  constructor(fields: BursarErrorFields<Code>) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.outcome = fields.outcome;
    this.attempts = fields.attempts;
    this.status = fields.status;
    this.requestId = fields.requestId;
    this.docUrl = fields.docUrl;
    this.details = fields.details ?? [];
    this.idempotencyKey = fields.idempotencyKey;
    this.retryAfterMs = fields.retryAfterMs;
  }

  override get name(): string {
    return "BursarError";
  }

  toJSON(): object {
    const { name, code, message, outcome, attempts, status, requestId, docUrl, details, idempotencyKey } =
      this;
    return { name, code, message, outcome, attempts, status, requestId, docUrl, details, idempotencyKey };
  }
}

/** Whether a caught value is an error of the client, and has one of these codes if any are given. */
export function isBursarError<Code extends BursarErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is BursarError<Code> {
  return error instanceof BursarError && (codes.length === 0 || codes.some((code) => code === error.code));
}

/** A call that cannot be made as it was asked for. */
export function invalidArgument(message: string): BursarError<"INVALID_ARGUMENT"> {
  return new BursarError({ code: "INVALID_ARGUMENT", message, outcome: "not_sent", attempts: 0 });
}
