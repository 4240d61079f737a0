import type { ErrorCode, ErrorDetail } from "@bursar/protocol";

/** An expected "no" of a use case: a value, because it is part of what the use case is for. */
export interface Refused {
  refused: ErrorCode;
  /** Says more than the catalog's own message. */
  message?: string;
  details?: readonly ErrorDetail[];
  /** When to come back, where that is known. */
  retryAfterSeconds?: number;
}

export function isRefused(value: unknown): value is Refused {
  return typeof value === "object" && value !== null && "refused" in value;
}
