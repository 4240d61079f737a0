import type { ErrorCode, ErrorDetail } from "@bursar/protocol";

/** An expected refusal by a use case. It is returned, not thrown. */
export interface Refused {
  refused: ErrorCode;
  /** A more specific message than the one in the catalog. */
  message?: string;
  details?: readonly ErrorDetail[];
  /** When to retry, if that is known. */
  retryAfterSeconds?: number;
}

export function isRefused(value: unknown): value is Refused {
  return typeof value === "object" && value !== null && "refused" in value;
}

/** Rolls back the SQL transaction in which it is found that a request must be refused after all. It is answered as its refusal. */
export class RefusedError extends Error {
  readonly refusal: Refused;

  constructor(refusal: Refused) {
    super(`the request is refused: ${refusal.refused}`);
    this.refusal = refusal;
  }
}
